import { environment, usesEnvironmentProxy } from '../internal/runtime.ts';

/**
 * The proxy that the runtime's own `fetch` takes from the environment for a URL, as `host:port`: without the
 * credentials that the variable may carry. Undefined if it uses none.
 */
export function environmentProxy({ protocol, hostname, port }: URL): string | undefined {
  if (!usesEnvironmentProxy() || isExcluded(hostname, port)) return undefined;

  const http = environment('http_proxy') ?? environment('HTTP_PROXY');
  const value =
    protocol === 'https:' ? (environment('https_proxy') ?? environment('HTTPS_PROXY') ?? http) : http;
  return value !== undefined && URL.canParse(value) ? new URL(value).host : undefined;
}

/** Whether NO_PROXY names the host: a list of names, each for its subdomains too, optionally with a port. */
function isExcluded(hostname: string, port: string): boolean {
  const entries = (environment('no_proxy') ?? environment('NO_PROXY') ?? '').toLowerCase().split(/[\s,]+/);
  return entries.filter(Boolean).some((entry) => {
    const [, name = '', onlyPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (onlyPort !== undefined && onlyPort !== port) return false;
    return entry === '*' || hostname === name || hostname.endsWith(`.${name}`);
  });
}
