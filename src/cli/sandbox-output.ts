import { styleText } from 'node:util';
import type { LoggedRequest, SandboxKeys } from 'accounting-data-sdk/testing';
import { oneLine } from '../internal/text.ts';
import { counted } from './numbers.ts';

/** What each key of the sandbox may do, in the order in which the keys are printed. */
const KEYS: Readonly<Record<keyof SandboxKeys, string>> = {
  full: 'reads and writes everything of the first company',
  readOnly: 'reads the first company; a write returns 403 scope_required',
  productsOnly: 'reads and writes products; everything else returns 403 scope_required',
  forbidden: 'has no rights: 403 forbidden',
  revoked: 'was revoked: 401 unauthenticated',
  otherCompany: 'reads and writes everything of the other company',
};

/** How the first line of a file that the command wrote begins. */
export const TITLE = 'Sandbox of the public accounting data API';

const variable = (name: string) => `ACCOUNTING_API_KEY_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/**
 * The lines of a `.env` file, written into it or printed. The first key has the name that the SDK reads; the others are
 * named by their rights.
 */
export function envLines(
  { baseUrl, keys }: { readonly baseUrl: string; readonly keys: SandboxKeys },
  { description, written }: { readonly description: string; readonly written: string | undefined },
): string[] {
  const { full, ...others } = KEYS;
  const named = Object.entries(others) as [keyof SandboxKeys, string][];
  const file = written === undefined ? '.env' : oneLine(written);
  const first = written === undefined ? 'Copy these lines into .env and run' : 'Run';
  // The command finds a file of this name itself.
  const flag = file === '.env' ? '' : ` --env ${file}`;
  return [
    `# ${description}`,
    `# ${first}: npx accounting-data-sdk pull accounts${flag}`,
    `# or your own program: node --env-file=${file} connector.js`,
    `# or load it: set -a; . ${file.includes('/') ? file : `./${file}`}; set +a`,
    `# or try: curl -H "X-AUTH-TOKEN: ${keys.full}" ${baseUrl}/api/public/v1/accounts`,
    '',
    `ACCOUNTING_BASE_URL=${baseUrl}`,
    `# ${full}`,
    `ACCOUNTING_API_KEY=${keys.full}`,
    '',
    ...named.flatMap(([name, rights]) => [`# ${rights}`, `${variable(name)}=${keys[name]}`]),
  ];
}

/** Whether text in a `.env` file is what the command wrote, and nothing was added to it. */
export function isSandboxEnv(text: string): boolean {
  const lines = text.split(/\r?\n/);
  return (
    lines[0]?.startsWith(`# ${TITLE}`) === true &&
    lines.every((line) => /^(?:$|#|ACCOUNTING_BASE_URL=|ACCOUNTING_API_KEY(?:_[A-Z_]+)?=)/.test(line))
  );
}

/** The text of any other `.env` file with the address and the key of the sandbox; its other lines stay as they are. */
export function withSettings(
  text: string,
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
): string {
  const values = { ACCOUNTING_BASE_URL: baseUrl, ACCOUNTING_API_KEY: apiKey };
  return Object.entries(values).reduce((before, [name, value]) => {
    const line = new RegExp(`^([ \\t]*(?:export[ \\t]+)?)${name}[ \\t]*=[^\\r\\n]*`, 'gm');
    const after = before.replace(line, (_, start: string) => `${start}${name}=${value}`);
    if (line.test(before)) return after;
    return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${name}=${value}\n`;
  }, text);
}

const API = '/api/public/v1';

/** A request as a line of the log: time, method, status, path, outcome, key. */
export function requestLine(request: LoggedRequest, withColors: boolean): string {
  const paint = (style: 'dim' | 'red' | 'yellow' | 'green', text: string) =>
    withColors ? styleText(style, text, { validateStream: false }) : text;
  const { at, method, path, query, status, key } = request;
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  const url = `${path.startsWith(API) ? path.slice(API.length) : path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
  const colour = status === undefined || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const parts = [outcome(request), key ?? 'no valid key'].filter(Boolean);
  return [
    paint('dim', at.toISOString().slice(11, 19)),
    method.padEnd(6),
    paint(colour, String(status ?? '---')),
    printable(url),
    paint('dim', printable(parts.join(' · '))),
  ].join(' ');
}

function outcome({ records, error, fault, idempotencyKey }: LoggedRequest): string {
  const parts = [
    records === undefined ? undefined : counted(records, 'record'),
    error,
    idempotencyKey === undefined ? undefined : `key ${idempotencyKey}`,
    fault === undefined ? undefined : `fault ${fault}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/**
 * With an escape for each character that could write lines of its own into the log, move its cursor or reverse the text
 * around it.
 */
function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029\p{Surrogate}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
