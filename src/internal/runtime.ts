import { VERSION } from './version.ts';

/** The caller's own name, for the User-Agent. */
export interface AppInfo {
  /** Visible ASCII without spaces. */
  readonly name: string;
  /** Of your connector. Default: none. */
  readonly version?: string | undefined;
}

interface Runtime {
  readonly process?: {
    readonly versions?: { readonly node?: string };
    readonly env?: Record<string, string | undefined>;
  };
  readonly Deno?: unknown;
  readonly Bun?: unknown;
  readonly navigator?: { readonly userAgent?: string };
}

const runtime: Runtime = globalThis as Runtime;

/**
 * The User-Agent to send; undefined in browsers, where setting one is ignored or adds a header that the service's
 * CORS rules may not allow.
 */
export function userAgent(app: AppInfo | undefined): string | undefined {
  const server =
    runtime.process?.versions?.node !== undefined ||
    runtime.Deno !== undefined ||
    runtime.Bun !== undefined ||
    runtime.navigator?.userAgent === 'Cloudflare-Workers';
  if (!server) return undefined;

  const product =
    app === undefined ? '' : ` ${app.name}${app.version === undefined ? '' : `/${app.version}`}`;
  return `accounting-data-sdk/${VERSION}${product}`;
}

/** An environment variable; undefined if it is empty, or if the runtime has none or does not let it be read. */
export function environment(name: string): string | undefined {
  try {
    return runtime.process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}
