import { describe, expect, test, vi } from 'vitest';
import { StatusLine } from '../../../src/cli/terminal.ts';

/** What a terminal shows after everything that was written to it; knows `\r` and the clearing of a line. */
function terminal(columns: number | undefined) {
  const lines = [''];
  const write = (text: string) => {
    for (const char of text.replaceAll('\r\u001b[2K', '\f')) {
      if (char === '\n') lines.push('');
      else lines[lines.length - 1] = char === '\f' ? '' : `${lines.at(-1)}${char}`;
    }
  };
  return { columns, write, lines };
}

describe('the status line', () => {
  test('replaces itself, stays below what else is written, and leaves nothing', () => {
    vi.useFakeTimers();
    const screen = terminal(40);
    const status = new StatusLine(screen);
    status.show('one');
    vi.advanceTimersByTime(100);
    status.show('two');
    expect(screen.lines).toEqual(['two']);
    status.beside(() => screen.write('a line\n'));
    expect(screen.lines).toEqual(['a line', 'two']);
    status.show(undefined);
    status.beside(() => screen.write('the end\n'));
    expect(screen.lines).toEqual(['a line', 'the end', '']);
    vi.useRealTimers();
  });

  test('is cut if it would wrap, even if the terminal does not know its width', () => {
    for (const columns of [20, 0, undefined]) {
      const screen = terminal(columns);
      new StatusLine(screen).show('x'.repeat(200));
      expect(screen.lines[0]?.length).toBe((columns || 80) - 1);
    }
  });
});
