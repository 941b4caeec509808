import type { ApiError } from '../../errors/api-error.ts';
import { allUnknown, known, unknown } from './finding.ts';
import type { Finding, ProbeReport } from './report.ts';

interface NotFoundForm {
  readonly contentType: string | undefined;
  /** Whether it has a type, a title or a detail. */
  readonly isProblem: boolean;
}

/** Collects the 404s, one of each kind. */
export class ProblemReading {
  readonly #notFound = new Map<string, NotFoundForm>();

  seen(error: ApiError, contentType: string | undefined): void {
    const { status, type, title, detail } = error;
    if (status !== 404) return;

    const isProblem = (type ?? title ?? detail) !== undefined;
    const form = { contentType, isProblem };
    this.#notFound.set(JSON.stringify(form), form);
  }

  findings(): ProbeReport['problems'] {
    const forms = [...this.#notFound.values()];
    if (forms.length === 0) return allUnknown('no response was a 404', ['notFound', 'bareNotFound']);

    return { notFound: contentTypeOf(forms), bareNotFound: isBare(forms) };
  }
}

function contentTypeOf(forms: readonly NotFoundForm[]): Finding<string> {
  const types = [...new Set(forms.map(({ contentType = 'none' }) => contentType))];
  const [only = 'none', ...others] = types;
  return others.length === 0
    ? known(only, 'seen on 404')
    : unknown(`errors differ in their content type: ${types.join(', ')}`);
}

function isBare(forms: readonly NotFoundForm[]): Finding<boolean> {
  const bare = forms.find(({ contentType, isProblem }) => {
    const isJson = contentType === undefined || /[/+]json$/.test(contentType);
    return !isJson || !isProblem;
  });
  return bare === undefined
    ? known(false, 'a 404 is a problem document')
    : known(true, `a 404 as ${bare.contentType ?? 'nothing'} without type, title or detail`);
}
