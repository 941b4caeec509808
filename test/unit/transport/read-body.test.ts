import { expect, test } from 'vitest';
import { BodyTooLarge, readBody } from '../../../src/transport/read-body.ts';
import { caught } from '../../support/caught.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** A body in chunks, which tells whether the rest of it was cancelled. */
function chunked(...chunks: readonly string[]) {
  const state = { cancelled: false, pulled: 0 };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[state.pulled++];
        if (chunk === undefined) controller.close();
        else controller.enqueue(bytes(chunk));
      },
      cancel() {
        state.cancelled = true;
        // Never confirmed: a stuck stream must not hold up whoever gave it up.
        return new Promise(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(stream), state };
}

test.each([[[]], [['one']], [['one', 'two', '', 'three']]])(
  'the chunks %j become one body',
  async (chunks) => {
    const body = await readBody(chunked(...chunks).response, 100);
    expect(new TextDecoder().decode(body)).toBe(chunks.join(''));
  },
);

test('a body that came in one piece is not copied', async () => {
  const whole = bytes('whole');
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(whole);
      controller.close();
    },
  });
  expect(await readBody(new Response(stream), 100)).toBe(whole);
});

test('no body at all is an empty one', async () => {
  expect(await readBody(new Response(null), 100)).toHaveLength(0);
});

test('reading stops at the cap, and the rest is cancelled', async () => {
  const { response, state } = chunked('12345', '12345', '12345', '12345');
  expect(await caught(readBody(response, 9))).toBeInstanceOf(BodyTooLarge);
  expect(state).toEqual({ cancelled: true, pulled: 2 });
  expect(await readBody(chunked('12345', '1234').response, 9)).toHaveLength(9);
});

test('a stream that fails, fails the reading', async () => {
  const error = new TypeError('terminated');
  const stream = new ReadableStream({ start: (controller) => controller.error(error) });
  expect(await caught(readBody(new Response(stream), 100))).toBe(error);
});

test('a stream whose cancellation fails is no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue(bytes('12345')),
    cancel: () => Promise.reject(new Error('stuck')),
  });
  expect(await caught(readBody(new Response(stream), 2))).toBeInstanceOf(BodyTooLarge);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
