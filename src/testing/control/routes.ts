import { ProblemError } from '../service/problem.ts';
import type { ControlCall, ControlResponse } from './call.ts';
import { addFault, listFaults, removeFault, removeFaults } from './faults.ts';
import { page, pageAddress, script } from './page.ts';
import { createRecord, deleteRecord, getRecord, listRecords, updateRecord } from './records.ts';
import { clearRequests, followRequests, getRequest, listJournal, listRequests } from './requests.ts';
import {
  changeQuota,
  issueKey,
  listOptions,
  moveClock,
  reset,
  restoreQuota,
  revokeKey,
  showState,
} from './service.ts';

type Handle = (call: ControlCall) => ControlResponse;

/** What each method does at a path below `/_sandbox`. */
const ROUTES: Readonly<Record<string, Readonly<Record<string, Handle>>>> = {
  '': { GET: pageAddress },
  '/': { GET: page },
  '/window.js': { GET: script },
  '/state': { GET: showState },
  '/options': { GET: listOptions },
  '/requests': { GET: listRequests, DELETE: clearRequests },
  '/requests/:number': { GET: getRequest },
  '/events': { GET: followRequests },
  '/journal': { GET: listJournal },
  '/faults': { GET: listFaults, POST: addFault, DELETE: removeFaults },
  '/faults/:id': { DELETE: removeFault },
  '/records/:collection': { GET: listRecords, POST: createRecord },
  '/records/:collection/:id': { GET: getRecord, PATCH: updateRecord, DELETE: deleteRecord },
  '/clock': { POST: moveClock },
  '/keys': { POST: issueKey },
  '/keys/:key': { DELETE: revokeKey },
  '/quota': { POST: changeQuota, DELETE: restoreQuota },
  '/reset': { POST: reset },
};

interface Route {
  readonly handle: Handle;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The route of a request, or 404 or 405. */
export function findRoute(method: string, path: string): Route {
  for (const [pattern, methods] of Object.entries(ROUTES)) {
    const parameters = parametersIn(pattern, path);
    if (parameters === undefined) continue;
    const handle = methods[method === 'HEAD' ? 'GET' : method];
    if (handle !== undefined) return { handle, parameters };
    throw new ProblemError('method_not_allowed', `${method} is not possible here.`, {
      headers: { Allow: Object.keys(methods).join(', ').replace('GET', 'GET, HEAD') },
    });
  }
  const known = Object.keys(ROUTES).filter((pattern) => pattern.length > 1);
  throw new ProblemError(
    'not_found',
    `There is nothing at ${JSON.stringify(path)}. Known: ${known.join(', ')}.`,
  );
}

/** What a path has in place of the names of a pattern; undefined if it is another path. */
function parametersIn(pattern: string, path: string): Record<string, string> | undefined {
  const [names, parts] = [pattern.split('/'), path.split('/')];
  if (names.length !== parts.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? '';
    if (name.startsWith(':') && part !== '') parameters[name.slice(1)] = decoded(part);
    else if (name !== part) return undefined;
  }
  return parameters;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ProblemError('malformed_request', 'The path is not percent-encoded UTF-8.');
  }
}
