/** API keys, by what they are for. */
export interface TargetKeys {
  /** Reads everything and writes products. */
  readonly main: string;
  readonly otherCompany: string;
  readonly readOnly: string;
  readonly withoutPermission: string;
  readonly revoked: string;
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
  /** The id of a product that denies updates and deletes. */
  readonly lockedProduct: string;
  /** A service whose quota may be used up. Its main key has requests left when a check starts. */
  readonly limited: Pick<Target, 'baseUrl' | 'send' | 'keys'>;
  /** Waits, by the service's clock. */
  readonly wait: (ms: number) => Promise<void>;
}
