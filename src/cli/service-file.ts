import { readFile } from 'node:fs/promises';
import type { ProbeReport, ProfileLine, ServiceProfile } from 'accounting-data-sdk/explore';
import { CommandFailure, EXIT } from './errors.ts';

/** Begins the comment that holds the profile: a formatter changes code, but no comment. */
const COMMENT = '// profile: ';

/** The file of `probe --out`: JSON for a name that ends with `.json`, otherwise TypeScript with the evidence as comments. */
export function serviceFile({ client, sync, sandbox, profile, baseUrl }: ProbeReport, file: string): string {
  const service = { client, sync, sandbox };
  if (file.endsWith('.json')) return `${JSON.stringify(service, undefined, 2)}\n`;

  const reasonOf = (of: string, name: string) =>
    profile.find((line) => line.of === of && line.name === name)?.reason ?? '';
  const members = (value: object, of: ProfileLine['of'], path: string, indent: string): string => {
    const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const full = `${path}${name}`;
      const isGroup = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
      return isGroup
        ? `${indent}"${name}": ${members(inner, of, `${full}.`, `${indent}  `)}`
        : `${indent}// ${reasonOf(of, full)}\n${indent}"${name}": ${JSON.stringify(inner)}`;
    });
    return entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n${indent.slice(2)}}`;
  };
  const parts = Object.entries(service).map(
    ([of, value]) => `  "${of}": ${members(value, of as ProfileLine['of'], '', '    ')}`,
  );
  const head = `// What ${baseUrl} does, as seen by accounting-data-sdk probe. createClient, sync and createSandbox take the parts.`;
  const code = `export const service = {\n${parts.join(',\n')}\n} as const;`;
  return `${head}\n// probe --check and --service read the next line, not the code below.\n${COMMENT}${ascii(service)}\n${code}\n`;
}

/** JSON without characters that would end a comment. */
function ascii(value: object): string {
  const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, code);
}

/** The profile in a file of `probe --out`; undefined if the text is not one. */
export function parseServiceFile(text: string): ServiceProfile | undefined {
  const line = text.split(/\r?\n/).find((one) => one.startsWith(COMMENT));
  const json = line?.slice(COMMENT.length) ?? text;
  try {
    const value: unknown = JSON.parse(json);
    const isProfile = typeof value === 'object' && value !== null && 'client' in value && 'sandbox' in value;
    return isProfile ? (value as ServiceProfile) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a file of `probe --out`. */
export async function readServiceFile(file: string): Promise<ServiceProfile> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(`${file} cannot be read (${error.code}).`, {
      advice: 'Write it with probe --out.',
      exitCode: EXIT.file,
    });
  });
  const profile = parseServiceFile(text);
  if (profile !== undefined) return profile;
  throw new CommandFailure(`${file} is not a file of probe --out: it has no profile.`, {
    advice: 'Write it again with probe --out.',
    exitCode: EXIT.file,
  });
}

/**
 * Options that follow from writes, or from a collection that has enough records: only one of two probes may see them.
 * Every other option is left out only if the service needs none.
 */
const SEEN_BY_CHANCE =
  /^(?:sandbox\.(?!timeZone$)|client\.(?:retry|contentTypes|parameters)\.|sync\.lookbackMs$)/;

/** Times, which differ in each probe. */
const MEASURED = /^sandbox\.newRecords\./;

/**
 * What differs, as the lines of a diff: options that both sides name, and those of one side that the other would name if
 * the service needed them there. What is unknown on one side is no difference.
 */
export function differences(before: ServiceProfile, now: ServiceProfile): string[] {
  const [old, seen] = [new Map(leavesOf(part(before))), new Map(leavesOf(part(now)))];
  return [...new Set([...old.keys(), ...seen.keys()])].flatMap((path) => {
    const [value, other] = [old.get(path), seen.get(path)];
    const isOneSided = value === undefined || other === undefined;
    if (value === other || MEASURED.test(path) || (isOneSided && SEEN_BY_CHANCE.test(path))) return [];
    return [
      ...(value === undefined ? [] : [`- ${path}: ${value}`]),
      ...(other === undefined ? [] : [`+ ${path}: ${other}`]),
    ];
  });
}

/** A report has more than the options. */
const part = ({ client, sync, sandbox }: ServiceProfile): ServiceProfile => ({ client, sync, sandbox });

/** Values as JSON by their paths, such as `sandbox.ids.form`. */
function leavesOf(value: object, path = ''): (readonly [path: string, json: string])[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? leavesOf(inner, `${path}${name}.`)
      : [[`${path}${name}`, JSON.stringify(inner)] as const],
  );
}
