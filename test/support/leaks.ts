import { formsOf } from './echoes.ts';
import { shown } from './shown.ts';

/** The lines of a logged value that contain a key in any of its forms. */
export function leaks(value: unknown, canary: string): string[] {
  const forms = formsOf(canary);
  return shown(value)
    .split('\n')
    .filter((line) => forms.some((form) => line.includes(form)));
}
