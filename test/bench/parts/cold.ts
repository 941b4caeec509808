import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { API_KEY } from '../support/client.ts';
import type { Effort, Findings } from '../support/part.ts';
import { withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, shown } from '../support/rounds.ts';

/** What a fresh process had used by the end of its work. */
interface Start {
  /** Since the process began. */
  readonly ms: number;
  readonly cpuMs: number;
}

/** Each line of code is a program of its own: plain JavaScript, for stripping types costs more than what is measured. */
const IMPORTS = {
  'bare Node': '',
  'accounting-data-sdk': "await import('./dist/index.js');",
  ky: "await import('ky');",
  notion: "await import('@notionhq/client');",
  stripe: "await import('stripe');",
  openai: "await import('openai');",
  zod: "await import('zod');",
} as const;

const list = "'/api/public/v1/products?_page=1'";
const headers = `headers: { 'x-auth-token': '${API_KEY}' }`;
const FIRST_PAGES = {
  'fetch loop': `rows = await (await fetch(origin + ${list}, { ${headers} })).json();`,
  'accounting-data-sdk': `
    const { createClient } = await import('./dist/index.js');
    const client = createClient({ baseUrl: origin, apiKey: '${API_KEY}' });
    rows = (await client.products.list({}, { pagination: 'page', prefetch: 0 }).pages().next()).value.records;`,
  ky: `const { default: ky } = await import('ky'); rows = await ky.get(origin + ${list}, { ${headers} }).json();`,
  notion: `
    const { Client } = await import('@notionhq/client');
    rows = (await new Client({ auth: '${API_KEY}', baseUrl: origin }).users.list({})).results;`,
  stripe: `
    const { default: Stripe } = await import('stripe');
    const { hostname: host, port } = new URL(origin);
    const stripe = new Stripe('${API_KEY}', { protocol: 'http', host, port, telemetry: false });
    rows = (await stripe.products.list()).data;`,
  openai: `
    const { default: OpenAI } = await import('openai');
    rows = (await new OpenAI({ apiKey: '${API_KEY}', baseURL: origin + '/v1' }).files.list()).data;`,
} as const;

const folder = fileURLToPath(new URL('../', import.meta.url));

async function start(code: string): Promise<Start> {
  const program = `${code}
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ ms: performance.now(), cpuMs: (user + system) / 1000 }));
    process.exit();`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
  return JSON.parse(stdout) as Start;
}

export async function cold({ rounds, quick }: Effort): Promise<Findings> {
  const times = quick ? 1 : rounds * 5;
  const imports = await interleave(keysOf(IMPORTS), times, (name) => start(IMPORTS[name]));
  const pages = await withServer({ pageSize: 30, records: 3_000 }, (origin) =>
    interleave(keysOf(FIRST_PAGES), times, (name) =>
      start(`
        let rows; const origin = '${origin}';
        ${FIRST_PAGES[name]}
        if (rows.length !== 30) throw new Error('no page');`),
    ),
  );
  const over = (what: keyof Start) => (name: keyof typeof IMPORTS) =>
    imports[name].map((took, round) => took[what] - (imports['bare Node'][round]?.[what] ?? Number.NaN));
  const [ms, cpuMs] = [over('ms'), over('cpuMs')];
  const of = (took: Rounds<Start>, what: keyof Start) => took.map((one) => one[what]);
  // Of the medians: two starts in a row have little in common that a ratio of each pair would take out.
  const overFetch = (name: keyof typeof FIRST_PAGES) =>
    median(of(pages[name], 'ms')) / median(of(pages['fetch loop'], 'ms'));
  return {
    tables: [
      {
        title: 'Import, ms over bare Node',
        columns: ['package', 'ms', 'CPU ms'],
        rows: keysOf(IMPORTS)
          .slice(1)
          .map((name) => [name, shown(ms(name)), shown(cpuMs(name))]),
      },
      {
        title: 'First page of 30 from a cold start',
        columns: ['client', 'ms', 'CPU ms', '× fetch loop'],
        rows: keysOf(FIRST_PAGES).map((name) => [
          name,
          shown(of(pages[name], 'ms')),
          shown(of(pages[name], 'cpuMs')),
          overFetch(name).toFixed(2),
        ]),
      },
    ],
    figures: {
      import: median(ms('accounting-data-sdk')),
      firstPage: overFetch('accounting-data-sdk'),
    },
  };
}

function keysOf<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table) as Name[];
}
