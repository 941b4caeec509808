import type { ApiError } from '../../errors/api-error.ts';
import type { ProblemTypeForm } from '../../schemas/service-forms.ts';
import { known, unknown } from './finding.ts';
import type { Finding, ProbeReport } from './report.ts';

/** One kind of problem response. */
interface ProblemForm {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly typeForm: ProblemTypeForm;
  /** Whether it has a type, a title or a detail. */
  readonly isProblem: boolean;
}

/** Collects problem responses, one of each kind. */
export class ProblemReading {
  readonly #forms = new Map<string, ProblemForm>();

  seen(error: ApiError, contentType: string | undefined): void {
    const { status, type, title, detail, extensions } = error;
    // The reason in a member such as `message` becomes the detail too.
    const isOwn = detail !== undefined && !JSON.stringify(extensions).includes(JSON.stringify(detail));
    const isProblem = type !== undefined || title !== undefined || isOwn;
    const form = { status, contentType, typeForm: typeFormOf(type, status), isProblem };
    this.#forms.set(JSON.stringify(form), form);
  }

  findings(): ProbeReport['problems'] {
    const seen = [...this.#forms.values()].sort((a, b) => a.status - b.status);
    const notFound = seen.filter(({ status }) => status === 404);
    return {
      typeForm: shared(seen, ({ typeForm }) => typeForm, 'type'),
      notFound: shared(notFound, ({ contentType }) => contentType ?? 'none', 'content type'),
      bareNotFound: bareNotFound(notFound),
    };
  }
}

function bareNotFound(forms: readonly ProblemForm[]): Finding<boolean> {
  if (forms.length === 0) return unknown('no response was a 404');
  const bare = forms.find(({ contentType, isProblem }) => {
    const isJson = contentType === undefined || /[/+]json$/.test(contentType);
    return !isJson || !isProblem;
  });
  return bare === undefined
    ? known(false, 'a 404 is a problem document')
    : known(true, `a 404 as ${bare.contentType ?? 'nothing'} without type, title or detail`);
}

/** What all problem responses have in common. */
function shared<T extends string>(
  forms: readonly ProblemForm[],
  read: (form: ProblemForm) => T,
  what: string,
): Finding<T> {
  const [value, ...others] = new Set(forms.map(read));
  const statuses = [...new Set(forms.map(({ status }) => status))].join(', ');
  if (value === undefined) return unknown('no response was such an error');
  if (others.length > 0) return unknown(`errors differ in their ${what}: ${[value, ...others].join(', ')}`);
  return known(value, `seen on ${statuses}`);
}

const RFC_URL = /^https?:\/\/\S*\brfc-?(?:2616|7231|9110)\b/i;

/** Distinguishes the forms that the client distinguishes when it chooses the class of an error. */
function typeFormOf(type: string | undefined, status: number): ProblemTypeForm {
  if (type === undefined || type.trim() === '') return 'absent';
  if (type === 'about:blank') return 'about:blank';
  if (RFC_URL.test(type)) return 'rfc-url';
  if (type.split(/[/#:]/).findLast(Boolean) === String(status)) return 'status';
  if (/^urn:/i.test(type)) return 'urn';
  if (/^[a-z][a-z\d+.-]*:/i.test(type)) return 'url';
  return type.includes('/') ? 'path' : 'bare';
}
