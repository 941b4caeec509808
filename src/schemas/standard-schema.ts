/** What every library of the Standard Schema family offers (standardschema.dev, version 1), as far as it is used here. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the value, or what is wrong with it. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Types only. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** What a schema found wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  const standard = (value as { '~standard'?: { validate?: unknown } } | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

/** The issues of a failed validation as `path: message`. */
export function describeIssues(issues: readonly StandardIssue[]): string[] {
  return issues.slice(0, 20).map(({ path, message }) => {
    const keys = (path ?? []).map((segment) => String(typeof segment === 'object' ? segment.key : segment));
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
  });
}
