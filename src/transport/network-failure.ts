import { isError } from '../internal/realm.ts';
import { causeText } from '../internal/text.ts';
import { type AttemptFault, Failure } from './failure.ts';
import type { Redactor } from './redact.ts';

/** Codes of Node, Bun and libuv for a connection that was never made, and what TEXTS says of others. */
const UNSENT =
  /^(?:ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|ERR_MODULE_NOT_FOUND|not connected|not loaded)$/;
/** Certificates, TLS versions, and what the runtime or fetch itself rejects. */
const BLOCKED =
  /^(?:ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|SELF_SIGNED_\w+|DEPTH_ZERO_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH|ERR_INVALID_URL|ERR_ACCESS_DENIED|\w*_CERTIFICATE\w*|bad port|unknown scheme|too many subrequests|content security policy|no permission|bad arguments|no fetch)$/;
/** A TLS connection that broke while it was in use, as one whose records arrive damaged. */
const BROKEN_TLS = /BAD_RECORD_MAC|DECRYPT|UNEXPECTED_EOF|SHUTDOWN/;
/** The headers of a response are larger than the runtime reads. */
const TOO_LARGE = /^(?:UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW)$/;

/** What runtimes say that have no codes, or vague ones, and Node's code for the same: undici, Deno, Bun, Workers, browsers. The first one counts. */
const TEXTS: readonly (readonly [text: RegExp, code: string])[] = [
  [/^bad port$|^Fetch failed: Requests to port \d+ are blocked/, 'bad port'],
  [/^unknown scheme$|^Url scheme '.*' not supported/, 'unknown scheme'],
  [
    /\bdns error\b|failed to lookup address|^A server with the specified hostname could not be found/,
    'ENOTFOUND',
  ],
  [/Connection refused|^Could not connect to the server/, 'ECONNREFUSED'],
  [/No route to host/, 'EHOSTUNREACH'],
  [/Network is unreachable|^The Internet connection appears to be offline/, 'ENETUNREACH'],
  [/invalid peer certificate/, 'CERT_INVALID'],
  [/received corrupt message|received fatal alert/, 'ERR_SSL_WRONG_VERSION_NUMBER'],
  // Bun gives it the code EPROTO, which is also that of a connection that breaks later.
  [/The TLS handshake failed|^An SSL error has occurred/, 'ERR_SSL_HANDSHAKE_FAILURE'],
  [/\(Connect\)/, 'not connected'],
  [
    /Connection reset|connection closed before message completed|network connection (?:was )?lost/i,
    'ECONNRESET',
  ],
  [/Too many subrequests/i, 'too many subrequests'],
  [/Content Security Policy/i, 'content security policy'],
  [/^Requires \w+ access to/, 'no permission'],
  [
    /^(?:fetch|Request|Response|Headers|ReadableStream|Text(?:En|De)coder|AbortController) is not (?:defined|a function|a constructor)/,
    'no fetch',
  ],
  // undici, Chromium, Firefox and Node of the arguments of fetch, such as a signal of another implementation.
  [
    /^RequestInit: |^Request constructor: |^Failed to (?:construct 'Request'|execute 'fetch')|'signal' member of RequestInit|to be an instance of AbortSignal|member signal is not of type/,
    'bad arguments',
  ],
  [/dynamically imported module|Importing a module script failed/, 'not loaded'],
];

/** undici's words for a proxy that rejects CONNECT, or a request that it was to forward. */
const PROXY_REJECTION =
  /^Proxy response \((\d{3})\) !== 200 when HTTP Tunneling$|^Proxy Authentication Required \((407)\)$/;

interface Thrown {
  readonly url: string;
  /** Removes the keys of the client from the words of the error. */
  readonly redactor: Redactor;
  /** Whether the caller's own `fetch` threw. */
  readonly ofCaller?: boolean;
}

/** What a rejected `fetch` means. */
export function networkFailure(error: unknown, { url, redactor, ofCaller = false }: Thrown): Failure {
  const { fault, reason, proxyStatus } = classify(causesOf(error));
  const { hostname, port, protocol } = new URL(url);
  const target = { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  const cause = redactor.cause(error);
  const words = reason === undefined ? wordsOf(cause) : '';
  const by = ofCaller ? 'the function given as fetch' : 'fetch';
  const thrown = words === '' ? undefined : `${by} threw ${words}`;
  // A cause of the runtime's own says no more, and may quote the query.
  return new Failure(fault, {
    kind: 'network',
    target,
    reason: reason === undefined ? undefined : redactor.text(reason),
    proxyStatus,
    thrown,
    cause: ofCaller ? cause : undefined,
  });
}

/** The innermost error with a message says the most. Without URLs, whose query may hold the company's data. */
function wordsOf(cause: unknown): string {
  let innermost = cause;
  while (isError(innermost) && isError(innermost.cause) && innermost.cause.message !== '')
    innermost = innermost.cause;
  return causeText(innermost).replaceAll(/\bhttps?:\/\/[^\s"')]+/g, 'the URL');
}

interface Classified {
  readonly fault: AttemptFault;
  readonly reason?: string | undefined;
  readonly proxyStatus?: number;
}

function classify(causes: readonly Cause[]): Classified {
  for (const { code, syscall, message } of causes) {
    const [, tunnel, forwarded] = PROXY_REJECTION.exec(message) ?? [];
    const proxyStatus = Number(tunnel ?? forwarded);
    // The same request gets the same 407 or 403. A 502 or 503 of a proxy may pass.
    if (proxyStatus > 0)
      return { fault: proxyStatus >= 500 ? 'unsent' : 'blocked', reason: code, proxyStatus };
    // On an established connection the same codes do not say what had been sent by then.
    if (code === undefined || syscall === 'read' || syscall === 'write') continue;
    if (UNSENT.test(code) || (syscall === 'connect' && code === 'ETIMEDOUT'))
      return { fault: 'unsent', reason: code };
    if (BLOCKED.test(code) && !BROKEN_TLS.test(code)) return { fault: 'blocked', reason: code };
    if (TOO_LARGE.test(code)) return { fault: 'not_a_response', reason: code };
  }
  return { fault: 'lost', reason: causes.find(({ code }) => code !== undefined)?.code };
}

interface Cause {
  readonly code: string | undefined;
  readonly syscall: unknown;
  readonly message: string;
}

/** The error, what caused it and, if several addresses were tried, the error of each: five levels at most. */
function causesOf(error: unknown, depth = 0): Cause[] {
  if (!isError(error) || depth > 5) return [];

  const { code, syscall, message, errors } = error as Error & Readonly<Record<string, unknown>>;
  // A code is a short constant; anything longer may quote what was sent.
  const constant = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : undefined;
  const inner = [...(Array.isArray(errors) ? (errors as unknown[]) : []), error.cause];
  return [
    { code: TEXTS.find(([text]) => text.test(message))?.[1] ?? constant, syscall, message },
    ...inner.slice(0, 10).flatMap((cause) => causesOf(cause, depth + 1)),
  ];
}
