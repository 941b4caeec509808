import type { SandboxKeys } from '../../testing/keys.ts';

/** What a key is for, in the order in which keys are shown. */
const MEANING: Readonly<Record<keyof SandboxKeys, string>> = {
  full: 'reads and writes everything of the first company',
  readOnly: 'reads the first company; a write is 403 scope_required',
  productsOnly: 'reads and writes products; anything else is 403 scope_required',
  forbidden: 'may nothing: 403 forbidden',
  revoked: 'was revoked: 401 unauthenticated',
  otherCompany: 'reads and writes everything of the other company',
  otherReadOnly: 'reads the other company',
  foreign: 'belongs to a company that is not served here: 401 unauthenticated',
};

const variable = (name: string) => `ACCOUNTING_API_KEY_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/**
 * The lines of a `.env` file: whatever is no variable is a comment, so that the whole can be kept as it is. The first
 * key is the one that the SDK looks for; the others are named after what they may.
 */
export function banner(baseUrl: string, keys: SandboxKeys, about: string): string[] {
  const { full, ...others } = MEANING;
  const named = Object.entries(others) as [keyof SandboxKeys, string][];
  return [
    `# ${about}`,
    `# Copy these lines into .env and run: npx accounting-data-sdk pull accounts`,
    `# or your own program: node --env-file=.env connector.js`,
    `# or into a shell, after: set -a`,
    `# or try: curl -H "X-AUTH-TOKEN: ${keys.full}" ${baseUrl}/api/public/v1/accounts`,
    '',
    `ACCOUNTING_BASE_URL=${baseUrl}`,
    `# ${full}`,
    `ACCOUNTING_API_KEY=${keys.full}`,
    '',
    ...named.flatMap(([name, meaning]) => [`# ${meaning}`, `${variable(name)}=${keys[name]}`]),
  ];
}
