import { inspect } from 'node:util';

/** Keys to look for: one as most are, and one that looks different in a URL and in JSON. */
export const CANARIES = ['canary-7f3a9c1e', `c4n/ry+"7f\\3a'9c=%1e`] as const;

/** The ways in which a canary may stand in a text. */
export const formsOf = (canary: string) => [
  canary,
  encodeURIComponent(canary),
  encodeURIComponent(canary).toLowerCase(),
  JSON.stringify(canary).slice(1, -1),
];

const each = (write: (code: number) => string) => (text: string) =>
  [...text].map((char) => write(char.charCodeAt(0))).join('');
const hex = (code: number, length = 2) => code.toString(16).padStart(length, '0');

/** How services, templates and logs write each character of a text. */
export const encodings = {
  percent: each((code) => `%${hex(code).toUpperCase()}`),
  unicode: each((code) => `\\u${hex(code, 4)}`),
  points: each((code) => `\\u{${hex(code)}}`),
  'units in percent': each((code) => `%u${hex(code, 4)}`),
  'long units': each((code) => `\\U${hex(code, 8)}`),
  octal: each((code) => `\\${code.toString(8).padStart(3, '0')}`),
  bytes: each((code) => `\\x${hex(code)}`),
  backslashes: each((code) => `\\${String.fromCharCode(code)}`),
  entities: each((code) => `&#${code};`),
  'hexadecimal entities': each((code) => `&#x${hex(code)};`),
  'named entities': (text: string) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('"', '&quot;')
      .replaceAll('/', '&sol;')
      .replaceAll('=', '&equals;'),
} satisfies Readonly<Record<string, (text: string) => string>>;

const DECODERS: readonly (readonly [RegExp, base: number])[] = [
  [/%(?:u00)?([\da-f]{2})/gi, 16],
  [/\\+([01][0-7]{2})/g, 8],
  [/\\+u\{?0*([\da-f]{2})\}?/gi, 16],
  [/\\+x([\da-f]{2})/gi, 16],
  [/&#0*(\d{2,3});?/g, 10],
  [/&#x0*([\da-f]{2});?/gi, 16],
];
const NAMED = { '&amp;': '&', '&quot;': '"', '&sol;': '/', '&equals;': '=' };

/** A text as a reader can decode it, without backslashes. */
export function decoded(text: string): string {
  let left = text;
  for (let round = 0; round < 4 && /[\\&%]/.test(left); round += 1) {
    for (const [form, base] of DECODERS)
      left = left.replaceAll(form, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, base)));
    for (const [name, char] of Object.entries(NAMED)) left = left.replaceAll(name, char);
  }
  return left.replaceAll('\\', '');
}

/** Headers in which a service may echo the key. */
export const echoHeaders = (canary: string) => ({
  'x-request-id': `r-${canary}`,
  'request-id': canary,
  'x-correlation-id': canary,
  'x-trace-id': canary,
  sunset: canary,
  deprecation: `"${encodeURIComponent(canary)}"`,
  'x-auth-token': canary,
});

/** Members of a problem document in which a service may echo the key. */
export const echoMembers = (canary: string) => ({
  title: `No access for ${canary}`,
  detail: `The key "${canary}" was rejected; the body was ${JSON.stringify({ key: canary })}`,
  instance: `/sign-in?token=${encodeURIComponent(canary)}`,
  violations: [{ propertyPath: canary, message: `not ${canary}`, code: canary }],
  trace: [{ args: { [canary]: `X-AUTH-TOKEN: ${canary}` }, url: encodeURIComponent(canary).toLowerCase() }],
});

/** The lines of a logged value that contain a key in any of its forms. */
export function leaks(value: unknown, canary: string): string[] {
  const forms = formsOf(canary);
  const bare = canary.replaceAll('\\', '');
  // A value is shown in several ways, which have most lines in common.
  return [...new Set(shown(value).split('\n'))].filter(
    (line) => forms.some((form) => line.includes(form)) || decoded(line).includes(bare),
  );
}

/** What a log or a console can show of a value: string, JSON, inspection, clone, and its chain of causes. */
export function shown(value: unknown): string {
  const texts: string[] = [];
  for (let link: unknown = value, depth = 0; link !== undefined && depth < 10; depth += 1) {
    texts.push(...oneShown(link));
    link = link instanceof Error ? link.cause : undefined;
  }
  return texts.join('\n');
}

function oneShown(value: unknown): string[] {
  const texts = [
    attempt(() => String(value)),
    attempt(() => JSON.stringify(value)),
    inspect(value),
    inspect(value, { depth: 10, showHidden: true, getters: true }),
    inspect(value, { depth: 10, customInspect: false, showHidden: true, getters: true }),
    attempt(() => inspect(structuredClone(value), { depth: 10 })),
  ];
  if (value instanceof Error) texts.push(value.message, value.stack ?? '', ...ownValues(value));
  return texts;
}

/** Every own property, enumerable or not. */
function ownValues(value: object): string[] {
  return Reflect.ownKeys(value).map((name) => {
    const member: unknown = attempt(() => Reflect.get(value, name));
    return `${String(name)}: ${inspect(member, { depth: 10, showHidden: true })}`;
  });
}

function attempt<T>(act: () => T): T | string {
  try {
    return act() ?? '';
  } catch (error) {
    return String(error);
  }
}
