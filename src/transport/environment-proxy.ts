import { environmentAsSet, usesEnvironmentProxy } from '../internal/runtime.ts';

/**
 * The proxy that the runtime's own `fetch` takes from the environment for a URL, as `host:port`: without the
 * credentials that the variable may carry. Undefined if it uses none.
 */
export function environmentProxy({ protocol, hostname, port }: URL): string | undefined {
  if (!usesEnvironmentProxy() || isExcluded(hostname, port || DEFAULT_PORTS[protocol])) return undefined;

  const http = either('http_proxy', 'HTTP_PROXY');
  const value = protocol === 'https:' ? either('https_proxy', 'HTTPS_PROXY') || http : http;
  return URL.canParse(value) ? new URL(value).host : undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** As Node reads them: the name in lower case counts if it is set, even to an empty string. */
function either(lower: string, upper: string): string {
  return environmentAsSet(lower) ?? environmentAsSet(upper) ?? '';
}

/** Whether NO_PROXY names the host: a list of names, each for its subdomains too, optionally with a port. */
function isExcluded(hostname: string, port: string | undefined): boolean {
  const entries = either('no_proxy', 'NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/);
  return entries.filter(Boolean).some((entry) => {
    const [, name = '', onlyPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (onlyPort !== undefined && onlyPort !== port) return false;
    return entry === '*' || hostname === name || hostname.endsWith(`.${name}`);
  });
}
