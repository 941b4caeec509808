import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkId } from '../input/checks.ts';

/**
 * The id in a field that refers to another record. Some services send an IRI instead of an id.
 *
 * ```ts
 * idFromIri('/api/public/v1/accounts/2'); // '2'
 * idFromIri('https://books.example.com/api/public/v1/accounts/2'); // '2'
 * idFromIri('2'); // '2': an id stays as it is
 * idFromIri(null); // null: so does a reference that is not set
 * ```
 *
 * A string with a slash is an IRI: its last segment is the id, percent-decoded; a query and a fragment are left out.
 *
 * @throws InvalidInputError for anything else: a number, an object, an empty string, an IRI without a collection and an
 * id. A wrong id would be worse than an error.
 */
export function idFromIri(value: string): string;
export function idFromIri<E extends null | undefined>(value: string | E): string | E;
export function idFromIri<E extends null | undefined>(value: string | E): string | E {
  if (value === null || value === undefined) return value as E;
  if (typeof value !== 'string') throw new InvalidInputError('iri', 'must be a string');
  if (!value.includes('/')) return checkId(value, 'iri');

  const path = value.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  const [collection = '', id = ''] = path.split('/').slice(-2);
  // API Platform names embedded objects that have no address so.
  const isAddress = collection !== '' && id !== '' && !path.startsWith('/.well-known/');
  if (!isAddress)
    throw new InvalidInputError('iri', 'must end in a collection and an id, such as /accounts/2');

  return checkId(decoded(id), 'iri');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new InvalidInputError('iri', 'must be percent-encoded UTF-8');
  }
}
