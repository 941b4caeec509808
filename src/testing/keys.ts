import type { CollectionName } from '../collections/index.ts';
import { checkChoices, checkCollections, checkNames } from './check-options.ts';
import { hashText, mix } from './data/dice.ts';
import type { CompanyName } from './store/company.ts';

/** What a key may do. The contract shows neither names nor meaning of scopes; these are the sandbox's own. */
export interface KeyGrant {
  /** @default 'main' */
  company?: CompanyName | undefined;
  /** `full` reads and writes, `read` only reads, `none` does neither. @default 'full' */
  access?: 'full' | 'read' | 'none' | undefined;
  /** The collections that the key reaches. @default all */
  collections?: readonly CollectionName[] | undefined;
  /** The error type of what the key may not do. @default 'scope_required' */
  refusal?: 'forbidden' | 'scope_required' | undefined;
}

/** A key that the service knows. */
export interface Credential {
  /** The name in the log, which never shows the key itself. */
  readonly name: string;
  readonly key: string;
  readonly company: CompanyName;
  readonly access: 'full' | 'read' | 'none';
  readonly collections: ReadonlySet<CollectionName> | undefined;
  readonly refusal: 'forbidden' | 'scope_required';
}

/** A key for each company and permission set. Each is the value of `X-AUTH-TOKEN`. */
export interface SandboxKeys {
  /** Reads and writes everything of the first company. */
  readonly full: string;
  /** Reads the first company; a write is answered with 403 `scope_required`. */
  readonly readOnly: string;
  /** Reaches products alone; any other collection is answered with 403 `scope_required`. */
  readonly productsOnly: string;
  /** A key whose user may nothing: 403 `forbidden`. */
  readonly forbidden: string;
  /** A key that was revoked: 401 `unauthenticated`. */
  readonly revoked: string;
  /** Reads and writes everything of the other company. */
  readonly otherCompany: string;
  /** Reads the other company. */
  readonly otherReadOnly: string;
  /** A key of a company that is not served here: 401 `unauthenticated`. */
  readonly foreign: string;
}

const NAMED: Readonly<Record<keyof SandboxKeys, KeyGrant>> = {
  full: {},
  readOnly: { access: 'read' },
  productsOnly: { collections: ['products'] },
  forbidden: { access: 'none', refusal: 'forbidden' },
  revoked: {},
  otherCompany: { company: 'other' },
  otherReadOnly: { company: 'other', access: 'read' },
  foreign: {},
};

const GRANT_CHOICES = {
  company: ['main', 'other'],
  access: ['full', 'read', 'none'],
  refusal: ['forbidden', 'scope_required'],
} as const satisfies { readonly [Name in keyof KeyGrant]?: readonly KeyGrant[Name][] };

/** The keys that a service knows, by their text. */
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
    // To this service a key of a company that it does not serve is like one that it has revoked.
    this.revoke(this.named.foreign);
  }

  /** Makes a key. The same seed gives the same keys in the same order, so that a terminal can keep them. */
  issue(grant: KeyGrant, name = `key-${this.#issued + 1}`): string {
    checkNames('issueKey', grant, ['company', 'access', 'collections', 'refusal']);
    checkChoices('', grant, GRANT_CHOICES);
    checkCollections('issueKey', grant.collections ?? []);
    const tail = mix(this.#seed, hashText(name)).toString(16).padStart(8, '0');
    const key = `sandbox-${name.replaceAll(/[^A-Za-z0-9]/g, '-')}-${tail}`;
    this.#issued += 1;
    this.#credentials.set(key, {
      name,
      key,
      company: grant.company ?? 'main',
      access: grant.access ?? 'full',
      collections: grant.collections === undefined ? undefined : new Set(grant.collections),
      refusal: grant.refusal ?? 'scope_required',
    });
    return key;
  }

  /** From now on the key is answered with 401. */
  revoke(key: string): void {
    if (!this.#credentials.delete(key)) throw new RangeError('The sandbox did not issue this key.');
  }

  /** Who a key stands for; undefined for one that is missing, unknown or revoked. */
  find(key: string | undefined): Credential | undefined {
    return key === undefined ? undefined : this.#credentials.get(key);
  }
}
