import type { CollectionName } from '../collections/index.ts';
import {
  type Check,
  type Named,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
} from '../internal/options.ts';
import { checkCollections, is, resolved } from './checks.ts';
import { hashText, mix } from './data/seeded-random.ts';
import type { ServiceRequest } from './message.ts';

const grantOptions = {
  /** @default 'main' */
  company: option(is.oneOf('main', 'other'), 'main'),
  /** `full` reads and writes, `read` only reads, `none` does neither. @default 'full' */
  access: option(is.oneOf('full', 'read', 'none'), 'full'),
  /** The collections that the key gives access to. @default all */
  collections: optional(is.strings as Check<readonly CollectionName[]>),
  /** The error type of the 403 for everything else. @default 'scope_required' */
  error: option(is.oneOf('forbidden', 'scope_required'), 'scope_required'),
};

/** The permissions of a key. The specification does not define scopes; these are the sandbox's own. */
export interface KeyGrant extends OptionInputs<typeof grantOptions>, Named {}

/** A key that the service knows. */
export interface Credential {
  /** The name in the log, which never contains the key itself. */
  readonly name: string;
  readonly key: string;
  readonly grant: ResolvedOptions<typeof grantOptions>;
  readonly isRevoked: boolean;
}

/** The keys that every sandbox has, one for each company and set of permissions. Send one as `X-AUTH-TOKEN`. */
export interface SandboxKeys {
  /** Reads and writes everything of the first company. */
  readonly full: string;
  /** Reads the first company; a write is rejected with 403 `scope_required`. */
  readonly readOnly: string;
  /** Reads and writes products; any other collection is rejected with 403 `scope_required`. */
  readonly productsOnly: string;
  /** A key without permissions: 403 `forbidden`. */
  readonly forbidden: string;
  /** A key that was revoked: 401 `unauthenticated`. */
  readonly revoked: string;
  /** Reads and writes everything of the other company. */
  readonly otherCompany: string;
}

const NAMED: Readonly<Record<keyof SandboxKeys, KeyGrant>> = {
  full: {},
  readOnly: { access: 'read' },
  productsOnly: { collections: ['products'] },
  forbidden: { access: 'none', error: 'forbidden' },
  revoked: {},
  otherCompany: { company: 'other' },
};

/** The keys that the service knows. */
export class Keyring {
  /** The keys that every sandbox has. */
  readonly named: SandboxKeys;
  readonly #credentials = new Map<string, Credential>();
  readonly #seed: number;
  #issued = 0;

  constructor(seed: number) {
    this.#seed = seed;
    const keys = Object.entries(NAMED).map(([name, grant]) => [name, this.issue(grant, name)] as const);
    this.named = Object.fromEntries(keys) as unknown as SandboxKeys;
    this.revoke(this.named.revoked);
  }

  /** Creates a key. The same seed gives the same keys, so that a connector's `.env` stays valid. */
  issue(given: KeyGrant, name = `key-${this.#issued + 1}`): string {
    const grant = resolved(grantOptions, given, 'issueKey');
    checkCollections('collections', grant.collections ?? []);
    const tail = mix(this.#seed, hashText(name)).toString(16).padStart(8, '0');
    const key = `sandbox-${name.replaceAll(/[^A-Za-z0-9]/g, '-')}-${tail}`;
    this.#issued += 1;
    this.#credentials.set(key, { name, key, grant, isRevoked: false });
    return key;
  }

  /** From now on, requests with this key are rejected with 401. */
  revoke(key: string): void {
    const credential = this.#credentials.get(key);
    if (credential === undefined || credential.isRevoked)
      throw new RangeError('The sandbox did not issue this key.');
    this.#credentials.set(key, { ...credential, isRevoked: true });
  }

  /** Every key, in the order in which they were issued. */
  get all(): readonly Credential[] {
    return [...this.#credentials.values()];
  }

  /** Who sends a request; undefined if the key is missing, unknown or revoked. */
  authenticate({ headers }: ServiceRequest): Credential | undefined {
    const credential = this.#credentials.get(headers['x-auth-token'] ?? '');
    return credential?.isRevoked === true ? undefined : credential;
  }
}
