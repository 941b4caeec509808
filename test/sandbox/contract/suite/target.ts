/** What a check needs beyond reading with one key. */
export type Need =
  /** It creates, changes and deletes products of its own. */
  | 'write'
  /** It sends values that a service may reject and writes to read-only collections. */
  | 'disposable data'
  /** It uses up a quota: {@link Target.limited}. */
  | 'exhaust'
  /** A product that denies changes: {@link Target.lockedProduct}. */
  | 'locked product'
  /** A key of the name. */
  | 'key of another company'
  | 'key that only reads'
  | 'key without permission'
  | 'revoked key'
  | 'key of a company that is not served here';

/** API keys, by what they are for. */
export interface TargetKeys {
  /** Reads everything; writes products where checks may write. */
  readonly main: string;
  readonly otherCompany?: string | undefined;
  readonly readOnly?: string | undefined;
  readonly withoutPermission?: string | undefined;
  readonly revoked?: string | undefined;
  readonly foreign?: string | undefined;
}

/** The part of fetch that the checks use. */
export type Send = (url: string, init: SendInit) => Promise<Response>;

export interface SendInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect: 'manual';
}

/** A service to check against the specification. */
export interface Target {
  /** What comes before `/api/public/v1`. */
  readonly baseUrl: string;
  readonly send: Send;
  readonly keys: TargetKeys;
  readonly write: boolean;
  /** Whether the company exists only for tests, so that no request can do harm. */
  readonly throwaway: boolean;
  /** The id of a product that denies updates and deletes. */
  readonly lockedProduct?: string | undefined;
  /** A service whose quota may be used up. Its main key has requests left when a check starts. */
  readonly limited?: Pick<Target, 'baseUrl' | 'send' | 'keys'> | undefined;
  /** Waits, by the service's clock. */
  readonly wait: (ms: number) => Promise<void>;
}

/** The needs of a check that a target does not meet. */
export function lacks(target: Target, needs: readonly Need[]): Need[] {
  const has: Readonly<Record<Need, boolean>> = {
    write: target.write,
    'disposable data': target.write && target.throwaway,
    exhaust: target.limited !== undefined,
    'locked product': target.write && target.lockedProduct !== undefined,
    'key of another company': target.keys.otherCompany !== undefined,
    'key that only reads': target.keys.readOnly !== undefined,
    'key without permission': target.keys.withoutPermission !== undefined,
    'revoked key': target.keys.revoked !== undefined,
    'key of a company that is not served here': target.keys.foreign !== undefined,
  };
  return needs.filter((need) => !has[need]);
}
