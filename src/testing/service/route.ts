import { type CollectionName, collectionNames, collections } from '../../collections/index.ts';
import { API_PATH } from '../../schemas/service-forms.ts';
import { ProblemError } from './problem.ts';

/** What a request does, and with which record. */
export interface Route {
  readonly operation: 'list' | 'get' | 'create' | 'update' | 'remove';
  readonly collection: CollectionName;
  /** The record; empty for `list` and `create`. */
  readonly id: string;
}

const bySegment = new Map(collectionNames.map((name) => [collections[name].segment, name]));
const OF_COLLECTION = { GET: 'list', POST: 'create' } as const;
const OF_RECORD = { GET: 'get', PATCH: 'update', DELETE: 'remove' } as const;

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ProblemError('malformed_request', 'The id is not percent-encoded UTF-8.');
  }
}

/** The collection in a path; undefined if there is no such collection. */
export function collectionOf(path: string): CollectionName | undefined {
  if (!path.startsWith(`${API_PATH}/`)) return undefined;
  return bySegment.get(path.slice(API_PATH.length + 1).split('/', 1)[0] ?? '');
}

/** The operation that a request selects, or 404 or 405. HEAD is a GET whose body the adapter leaves out. */
export function route(method: string, path: string): Route {
  const collection = collectionOf(path);
  const [, , , , , id, ...more] = path.split('/');
  if (collection === undefined || more.length > 0 || id === '') {
    throw new ProblemError('not_found', 'There is nothing at this path.');
  }

  const operations: Readonly<Record<string, Route['operation']>> =
    id === undefined ? OF_COLLECTION : OF_RECORD;
  const allowed = collections[collection].writable ? Object.keys(operations) : ['GET'];
  const name = method === 'HEAD' ? 'GET' : method;
  const operation = operations[name];
  if (operation === undefined || !allowed.includes(name)) {
    throw new ProblemError('method_not_allowed', `${method} is not possible here.`, {
      headers: { Allow: ['GET', 'HEAD', ...allowed.slice(1)].join(', ') },
    });
  }
  return { operation, collection, id: id === undefined ? '' : decodeId(id) };
}
