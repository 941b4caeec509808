import { formsOf } from './echoes.ts';
import { shown } from './shown.ts';

/** The lines in which a value shows a key, in any of its forms, to whoever logs it. */
export function leaks(value: unknown, canary: string): string[] {
  const forms = formsOf(canary);
  return shown(value)
    .split('\n')
    .filter((line) => forms.some((form) => line.includes(form)));
}
