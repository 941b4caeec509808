import type { ServiceRequest } from '../message.ts';
import { ProblemError } from '../service/problem.ts';

// What keeps web pages out. A page can send a GET and a POST to this machine, under a name of its own too, but neither
// choose `Host` nor send JSON to another origin without a preflight, which is never allowed here.

/** Everything below it controls the sandbox. */
export const CONTROL_PATH = '/_sandbox';

export function isControlPath(path: string): boolean {
  return path === CONTROL_PATH || path.startsWith(`${CONTROL_PATH}/`);
}

/** The name in `Host`, without a port. */
export function hostName(host = ''): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

/** The names of this machine to itself. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Rejects a request that neither the user nor a program of the user sent. */
export function guard(
  { method, path, headers }: Omit<ServiceRequest, 'body'>,
  hosts: readonly string[] = [],
): void {
  const host = hostName(headers.host);
  if (!LOOPBACK.test(host) && !hosts.includes(host)) {
    const detail = `Host is ${JSON.stringify(host)}. Only names of this machine control the sandbox, and those of the option hosts (--allow-host).`;
    throw new ProblemError('misdirected_request', detail);
  }
  if (isOfAnotherOrigin(path, headers)) {
    throw new ProblemError('forbidden', 'A page of another origin cannot control the sandbox.');
  }
  if (headers.upgrade !== undefined && headers.connection?.toLowerCase().includes('upgrade')) {
    // The connection ends, because what follows is not HTTP.
    const more = { headers: { Connection: 'close' } };
    throw new ProblemError('malformed_request', 'There are no WebSockets here. Read /_sandbox/events.', more);
  }
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (!['GET', 'HEAD', 'OPTIONS'].includes(method) && type.trim().toLowerCase() !== 'application/json') {
    throw new ProblemError('unsupported_media_type', `A ${method} needs Content-Type: application/json.`);
  }
}

/** A link of another page may lead to the window, whose own scripts then come from this origin. */
function isOfAnotherOrigin(path: string, headers: ServiceRequest['headers']): boolean {
  const { origin, host, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (origin !== undefined) return origin !== `http://${host}`;
  const isLink = mode === 'navigate' && path === `${CONTROL_PATH}/`;
  return site !== undefined && !['same-origin', 'none'].includes(site) && !isLink;
}
