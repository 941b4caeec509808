import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** What a state belongs to, and where it is kept. */
export interface StateName {
  readonly prefix: string;
  readonly tenant: string;
  readonly collection: string;
}

const LABEL = /^(?!.*\.\.)[A-Za-z0-9_.-]{1,100}$/;
const PREFIX = /^(?!.*\.\.)[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)*$/;

/**
 * The key of a state: `<prefix>:<tenant>:<collection>`, in letters, digits and `_.:-`, which every store keeps as they
 * are. The tenant is a label of the caller's: never an API key, for keys change hands and logs show it.
 */
export function stateKey({ prefix, tenant, collection }: StateName): string {
  if (typeof prefix !== 'string' || prefix.length > 100 || !PREFIX.test(prefix)) {
    throw new InvalidInputError(
      'prefix',
      'must be 1 to 100 letters, digits and "_", ".", "-", ":", without ".."',
    );
  }
  check('tenant', tenant);
  check('name', collection);
  return `${prefix}:${tenant}:${collection}`;
}

/** The key of what is known of a tenant's service. No collection has this name, because none has a `-` in its own. */
export function offsetKey(names: Omit<StateName, 'collection'>): string {
  return stateKey({ ...names, collection: 'utc-offset' });
}

function check(argument: string, label: string): void {
  if (typeof label !== 'string' || !LABEL.test(label)) {
    throw new InvalidInputError(argument, 'must be 1 to 100 letters, digits and "_", ".", "-", without ".."');
  }
}

/** The name of a collection by its segment: `accountAddresses` of `account-addresses`, as the client's property. */
export function collectionName(segment: string): string {
  return segment.replace(/-+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
