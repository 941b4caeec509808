import type { ApiError } from '../../errors/api-error.ts';
import type { ProblemTypeForm } from '../../schemas/service-forms.ts';
import { type Finding, known, unknown } from './finding.ts';

/** An error answer, as far as others of its kind look the same. */
export interface ProblemForm {
  readonly status: number;
  /** What it became: the `code` of the error. */
  readonly code: string;
  readonly contentType: string | undefined;
  /** `type` as sent. */
  readonly type: string | undefined;
  readonly typeForm: ProblemTypeForm;
  /** Members of the body that the client can read, by name. */
  readonly members: readonly string[];
}

const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

/** Error answers, one of each kind. */
export class ProblemReading {
  readonly #forms = new Map<string, ProblemForm>();

  seen(error: ApiError, contentType: string | undefined): void {
    const { code, status, type } = error;
    const form = {
      status,
      code,
      contentType,
      type,
      typeForm: typeFormOf(type, status),
      members: membersOf(error),
    };
    this.#forms.set(JSON.stringify([status, contentType, type]), form);
  }

  get forms(): readonly ProblemForm[] {
    return [...this.#forms.values()].sort((a, b) => a.status - b.status);
  }

  /** The form that all errors share. */
  typeForm(): Finding<ProblemTypeForm> {
    return shared(this.forms, ({ typeForm }) => typeForm, 'type');
  }

  /** Whether a 404 is not a problem document in JSON. */
  bareNotFound(): Finding<boolean> {
    const forms = this.forms.filter(({ status }) => status === 404);
    const [bare] = forms.filter(isBare);
    if (forms.length === 0) return unknown('no 404 was seen');
    return bare === undefined
      ? known(false, 'a 404 is a problem document')
      : known(true, `a 404 as ${bare.contentType ?? 'nothing'} without type, title, status or detail`);
  }

  /** The content type of errors of one status. */
  contentType(status: number): Finding<string> {
    const forms = this.forms.filter((form) => form.status === status);
    return shared(forms, (form) => form.contentType ?? 'none', 'content type');
  }
}

function isBare({ contentType, members }: ProblemForm): boolean {
  const isJson = contentType === undefined || /[/+]json$/.test(contentType);
  return !isJson || !members.some((name) => PROBLEM_MEMBERS.includes(name));
}

function shared<T extends string>(
  forms: readonly ProblemForm[],
  read: (form: ProblemForm) => T,
  what: string,
): Finding<T> {
  const values = new Set(forms.map(read));
  const [value] = values;
  const statuses = [...new Set(forms.map(({ status }) => status))].join(', ');
  if (value === undefined) return unknown('no error response was seen');
  if (values.size > 1) return unknown(`errors differ in their ${what}: ${[...values].join(', ')}`);
  return known(value, `seen on ${statuses}`);
}

const RFC_URL = /^https?:\/\/\S*\brfc-?(?:2616|7231|9110)\b/i;

/** Tells the forms apart that the client tells apart when it looks for the class of an error. */
export function typeFormOf(type: string | undefined, status: number): ProblemTypeForm {
  if (type === undefined || type.trim() === '') return 'absent';
  if (type === 'about:blank') return 'about:blank';
  if (RFC_URL.test(type)) return 'rfc-url';
  if (type.split(/[/#:]/).findLast(Boolean) === String(status)) return 'status';
  if (/^urn:/i.test(type)) return 'urn';
  if (/^[a-z][a-z\d+.-]*:/i.test(type)) return 'url';
  return type.includes('/') ? 'path' : 'bare';
}

function membersOf(error: ApiError): string[] {
  const standard = (['type', 'title', 'detail', 'instance'] as const).filter(
    (name) => error[name] !== undefined,
  );
  const violations = error.violations.length > 0 ? ['violations'] : [];
  return [...standard, ...violations, ...Object.keys(error.extensions)];
}
