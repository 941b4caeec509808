/** What a check may do, or must be given, beyond reading with one key. */
export type Need =
  /** It creates, changes and deletes products of its own. */
  | 'write'
  /** It sends values that a service may have rules for, and writes where nothing should be writable. */
  | 'throwaway books'
  /** It uses up a rate-limit budget: {@link Target.scarce}. */
  | 'exhaust'
  /** A product that refuses to be changed: {@link Target.lockedProduct}. */
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
  readonly powerless?: string | undefined;
  readonly revoked?: string | undefined;
  readonly foreign?: string | undefined;
}

/** The smallest part of fetch that the suite uses: text in, a Response out. */
export type Send = (url: string, init: SendInit) => Promise<Response>;

export interface SendInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect: 'manual';
}

/** A service to be held against the contract. */
export interface Target {
  /** What comes before `/api/public/v1`. */
  readonly baseUrl: string;
  readonly send: Send;
  readonly keys: TargetKeys;
  readonly write: boolean;
  /** Whether the books are there for testing alone, so that no attempt can do harm. */
  readonly throwaway: boolean;
  /** The id of a product that refuses to be changed or deleted. */
  readonly lockedProduct?: string | undefined;
  /** Where a budget may be used up. Its main key has requests left when a check begins. */
  readonly scarce?: Pick<Target, 'baseUrl' | 'send' | 'keys'> | undefined;
  /** Lets so many milliseconds pass, by the service's clock. */
  readonly wait: (ms: number) => Promise<void>;
}

/** What of a check's needs a target lacks. */
export function lacks(target: Target, needs: readonly Need[]): Need[] {
  const has: Readonly<Record<Need, boolean>> = {
    write: target.write,
    'throwaway books': target.write && target.throwaway,
    exhaust: target.scarce !== undefined,
    'locked product': target.write && target.lockedProduct !== undefined,
    'key of another company': target.keys.otherCompany !== undefined,
    'key that only reads': target.keys.readOnly !== undefined,
    'key without permission': target.keys.powerless !== undefined,
    'revoked key': target.keys.revoked !== undefined,
    'key of a company that is not served here': target.keys.foreign !== undefined,
  };
  return needs.filter((need) => !has[need]);
}
