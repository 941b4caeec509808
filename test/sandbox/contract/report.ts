/**
 * Checks a service against the specification and prints a report:
 *
 *     npm run contract -- --base-url https://books.example.com --api-key-env ACCOUNTING_API_KEY
 *
 * Without `--base-url` it checks a sandbox. It only reads from a service, unless `--write` allows it to create, update
 * and delete products. Keys come from the environment, by the name of a variable, and are never printed.
 */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { checks } from './checks/all.ts';
import { type Check, runCheck } from './suite/check.ts';
import { ContractClient, NotApplicable } from './suite/contract-client.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';
import { FLAGS, serviceTarget } from './suite/service-target.ts';
import { lacks, type Target } from './suite/target.ts';

const HELP = `npm run contract -- [options]

  --base-url URL            the service, without /api/public/v1; left out: a sandbox of its own
  --api-key-env NAME        the variable that holds the key (default ACCOUNTING_API_KEY)
  --write                   create, update and delete products named "Contract check …"
  --throwaway               with --write: the company exists only for tests; also try what must not work
  --exhaust                 use up the key's quota to see a 429
  --other-key-env NAME      a key of another company
  --read-only-key-env NAME  a key that only reads
  --forbidden-key-env NAME  a key without permission
  --revoked-key-env NAME    a revoked key
  --foreign-key-env NAME    a key of a company that is not served here
  --locked-product ID       with --write: a product that denies changes
`;

/** The result of a check. */
type Outcome = { readonly mark: '✓' | '✗' | '–'; readonly note: string };

async function judge(check: Check, target: Target): Promise<Outcome> {
  const missing = lacks(target, check.needs);
  if (missing.length > 0) return { mark: '–', note: `not run, it needs: ${missing.join(', ')}` };
  try {
    await runCheck(check, target);
    return { mark: '✓', note: '' };
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    return error instanceof NotApplicable
      ? { mark: '–', note: `does not apply: ${note}` }
      : { mark: '✗', note };
  }
}

/** Limits a line of the report, because a message can quote any response. */
const MAX_LINE = 200;

const shortened = (line: string) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line);

/** Runs every check, section by section. Returns the number of failures. */
async function run(target: Target, print: (line: string) => void): Promise<number> {
  const counts = { '✓': 0, '✗': 0, '–': 0 };
  let section: string | undefined;
  for (const check of checks) {
    if (check.section !== section) print(`\n${check.section}`);
    section = check.section;
    const { mark, note } = await judge(check, target);
    counts[mark] += 1;
    print(`  ${mark} ${check.name.slice(check.section.length + 2)}`);
    for (const line of note === '' ? [] : note.split('\n')) print(`      ${shortened(line)}`);
  }
  print(`\n${counts['✓']} passed, ${counts['✗']} failed, ${counts['–']} not checked.`);
  return counts['✗'];
}

/** Why the service cannot be checked at all: every check would fail for the same reason. */
async function obstacle(target: Target): Promise<string | undefined> {
  try {
    const { status } = await new ContractClient(target).list('accounts');
    return status === 401 ? `${target.baseUrl} rejects the key with 401.` : undefined;
  } catch (error) {
    const { cause, message } = error as Error;
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return `${target.baseUrl} cannot be reached: ${why}.`;
  }
}

/** The command. Returns the exit code: 0 if no check failed, 1 if one did, 2 for invalid options. */
export async function report(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
): Promise<number> {
  try {
    const flags = parseArgs({ args: [...args], options: FLAGS }).values;
    if (flags.help === true) {
      print(HELP);
      return 0;
    }
    if (flags['base-url'] === undefined) {
      await using served = await sandboxTarget('listening');
      print(`The sandbox of this package at ${served.target.baseUrl}`);
      return (await run(served.target, print)) === 0 ? 0 : 1;
    }
    const target = serviceTarget(flags, env);
    print(`${target.baseUrl}, ${target.write ? 'reading and writing' : 'reading only'}`);
    const why = await obstacle(target);
    if (why !== undefined) {
      print(why);
      return 1;
    }
    return (await run(target, print)) === 0 ? 0 : 1;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return 2;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = await report(process.argv.slice(2), process.env, console.log);
}
