// Draws the pictures of the guides from what the package really does: requests that a sandbox logged, the functions of a
// push, the tables of a copy, and the table of the performance guide. `npm run docs:pictures` writes them; a test fails
// if one is out of date.

import { readFileSync, writeFileSync } from 'node:fs';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterCreate, afterLook, type CreateState, known, NONE, toSend } from '../../push/create.ts';
import { namesIn, TABLES } from '../../targets/sql.ts';

const guides = new URL('../', import.meta.url);

const STYLE = `
    .panel { fill: #ffffff; stroke: #d1d5db }
    .box { fill: #f3f4f6; stroke: #9ca3af }
    .main { fill: #0f766e; stroke: #0f766e }
    .line, .arrow { fill: none; stroke: #6b7280; stroke-width: 1.5 }
    .bar { fill: #cbd5e1 }
    .own { fill: #0f766e }
    .lost { fill: #b91c1c }
    text { fill: #1f2937; font: 13px system-ui, sans-serif }
    .title { font-weight: 600; font-size: 14px }
    .small { fill: #6b7280; font-size: 12px }
    .code { font: 12px ui-monospace, monospace }
    .on { fill: #ffffff; font-weight: 600 }
    .bad { fill: #b91c1c }
    @media (prefers-color-scheme: dark) {
      .panel { fill: #1b1b1f; stroke: #3c3f44 }
      .box { fill: #26272b; stroke: #6b7280 }
      .bar { fill: #4b5563 }
      .own, .main { fill: #0d9488; stroke: none }
      .lost { fill: #f87171 }
      text { fill: #e5e7eb }
      .small { fill: #9ca3af }
      .bad { fill: #f87171 }
      .line, .arrow { stroke: #9ca3af }
    }`;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An SVG with a panel of its own behind it, so that it can be read on any page. */
function picture(width: number, height: number, title: string, content: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(title)}</title>
  <style>${STYLE}
  </style>
  <defs>
    <marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#6b7280"/></marker>
  </defs>
  <rect class="panel" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>
  ${content.join('\n  ')}
</svg>
`;
}

type Anchor = 'start' | 'middle' | 'end';

function text(x: number, y: number, content: string, kind = '', anchor: Anchor = 'start'): string {
  return `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

const rect = (x: number, y: number, width: number, height: number, kind: string) =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="3"/>`;

const dot = (x: number, y: number, kind: string) => `<circle class="${kind}" cx="${x}" cy="${y}" r="3"/>`;

const arrow = (path: string) => `<path class="arrow" d="${path}" marker-end="url(#end)"/>`;

function box(x: number, y: number, width: number, height: number, lines: readonly string[], kind = 'box') {
  const top = y + height / 2 - ((lines.length - 1) * 18) / 2 + 5;
  const written = lines.map((line, index) =>
    text(
      x + width / 2,
      top + index * 18,
      line,
      kind === 'main' ? 'on' : index === 0 ? 'title' : 'small',
      'middle',
    ),
  );
  return [
    `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`,
    ...written,
  ].join('');
}

/** The whole package in one picture, for the README. */
function overview(): string {
  const doors = [
    { name: 'list, get, find', arrives: 'your program, record by record' },
    { name: 'sync', arrives: 'SQLite, PostgreSQL or your own store' },
    { name: 'push', arrives: 'from your rows: each product once' },
    { name: 'sandbox', arrives: 'your tests, without a service' },
  ];
  const rows = doors.flatMap(({ name, arrives }, index) => {
    const y = 34 + index * 56;
    const isInward = name === 'push';
    const [from, to] = isInward ? [586, 516] : [510, 580];
    return [
      box(350, y, 160, 40, [name], 'main'),
      arrow(`M${from} ${y + 20}H${to}`),
      text(594, y + 25, arrives),
      name === 'sandbox' ? '' : arrow(isInward ? `M350 ${y + 20}H226` : `M220 ${y + 20}H344`),
    ];
  });
  return picture(860, 270, 'The package between the accounting service and your program', [
    box(24, 34, 196, 152, ['accounting service', 'HTTP, JSON, API key', 'of one company']),
    ...rows,
    text(122, 212, 'quota, retries, pagination', 'small', 'middle'),
    text(122, 230, 'and validation for all', 'small', 'middle'),
  ]);
}

/** Bars for each client, from the table of the performance guide. */
function performance(): string {
  const lines = readFileSync(new URL('performance.md', guides), 'utf8').split('\n');
  const rows = lines
    .filter((line) => /^\| .* \| [\d.]+× \| 1 \| \w+ [\d.]+/.test(line))
    .map((line) => {
      const [, title = '', own = '', , others = ''] = line.split('|').map((cell) => cell.trim());
      const bars = others.split(', ').map((other) => {
        const [, name = '', value = ''] = /^(.*) ([\d.]+)$/.exec(other) ?? [];
        return { name, value: Number(value) };
      });
      return { title, bars: [{ name: 'this package', value: Number.parseFloat(own) }, ...bars] };
    });
  const height = 44 + Math.ceil(rows.length / 2) * 226;
  const panels = rows.flatMap(({ title, bars }, index) => {
    const left = 24 + (index % 2) * 428;
    const top = 36 + Math.floor(index / 2) * 226;
    const scale = 200 / Math.max(...bars.map(({ value }) => value));
    const sorted = bars.toSorted((one, other) => one.value - other.value);
    const end = top + 24 + sorted.length * 22;
    return [
      text(left, top, title, 'title'),
      ...sorted.flatMap(({ name, value }, at) => {
        const y = top + 16 + at * 22;
        return [
          text(left + 132, y + 12, name, '', 'end'),
          rect(left + 140, y, Math.round(value * scale), 15, name === 'this package' ? 'own' : 'bar'),
          text(left + 146 + Math.round(Math.max(value, 1) * scale), y + 12, String(value), 'small'),
        ];
      }),
      `<path class="line" stroke-dasharray="3 3" d="M${left + 140 + scale} ${top + 10}V${end}"/>`,
    ];
  });
  panels.push(
    text(
      24,
      height - 18,
      'CPU time or time, as a multiple of a loop of fetch and .json() that validates nothing (the dashed line)',
      'small',
    ),
  );
  return picture(872, height, 'What requests and lists cost, compared with other clients', panels);
}

interface Read {
  readonly requests: readonly {
    readonly label: string;
    readonly from: number;
    readonly to: number;
    readonly ids: readonly number[];
  }[];
  readonly missed: readonly number[];
}

const LAST_ID = 84;

/** Reads 41 accounts while another client deletes the account 6 after the second response. */
async function readWhileOthersDelete(pagination: 'keyset' | 'page'): Promise<Read> {
  await using sandbox = createSandbox({ records: { accounts: 41 }, pageSize: 10, ids: { gap: 2 } });
  const all = sandbox.store.accounts.all().map(({ id }) => id);
  sandbox.onRequest(() => {
    if (sandbox.count() === 3) sandbox.store.accounts.delete('6');
  });
  const client = createClient(sandbox.clientOptions);
  const seen = new Set<string>();
  for await (const { id } of client.accounts.list({}, { pagination })) seen.add(id);
  const requests = sandbox.requests.map(({ query, ids = [] }) => ({
    label:
      Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ') || 'no bound',
    from: Number(query['id[gt]'] ?? 0),
    to: Math.min(Number(query['id[lte]'] ?? LAST_ID), LAST_ID),
    ids: ids.map(Number),
  }));
  return { requests, missed: all.filter((id) => id !== '6' && !seen.has(id)).map(Number) };
}

/** Two reads of the same records, request by request. */
async function keyset(): Promise<string> {
  const reads = [
    { title: 'By page', read: await readWhileOthersDelete('page') },
    { title: 'By keyset', read: await readWhileOthersDelete('keyset') },
  ];
  const x = (id: number) => 200 + Math.round((id / LAST_ID) * 600);
  let y = 30;
  const content = reads.flatMap(({ title, read: { requests, missed } }) => {
    const drawn = [text(24, y, title, 'title')];
    const result = missed.length === 0 ? 'every record was read' : `missed: ${missed.join(', ')}`;
    drawn.push(text(x(LAST_ID), y, result, missed.length === 0 ? '' : 'bad', 'end'));
    for (const [index, { label, from, to, ids }] of requests.entries()) {
      y += 22;
      if (index === 2) drawn.push(text(x(LAST_ID) + 10, y - 6, '6 is deleted', 'small bad'));
      drawn.push(text(188, y + 4, label, 'code', 'end'));
      if (title === 'By keyset') drawn.push(rect(x(from), y - 6, x(to) - x(from), 12, 'bar'));
      drawn.push(...ids.map((id) => dot(x(id), y, 'own')));
    }
    if (missed.length > 0) {
      y += 22;
      drawn.push(
        text(188, y + 4, 'never returned', 'small bad', 'end'),
        ...missed.map((id) => dot(x(id), y, 'lost')),
      );
    }
    y += 44;
    return drawn;
  });
  content.push(
    text(
      24,
      y - 10,
      'Each line is a request; a dot is a record of its response, by its id; a bar is the interval that was requested.',
      'small',
    ),
  );
  return picture(900, y + 10, 'The requests of two lists while a record is deleted', content);
}

const SENT: CreateState = { ...toSend(NONE, { draft: '{}', mayRepeat: true }), idempotencyKey: 'key' };

const MISSING = { products: 'none', mayLack: false, made: 'missing' } as const;

/** The arrows of the picture of a create, and what the functions of the push return for each. */
const ARROWS: Readonly<Record<string, CreateState>> = {
  'none → sent': SENT,
  'sent → made': afterCreate(SENT, { end: 'created', id: '1' }).state,
  'sent → none': afterCreate(SENT, { end: 'rejected', isOutage: false, isUnseen: false }).state,
  'sent → sent': afterCreate(SENT, { end: 'unknown' }).state,
  'made → none': afterLook(afterLook(known('1'), MISSING).state, MISSING).state,
};

function create(): string {
  for (const [name, { is }] of Object.entries(ARROWS)) {
    if (!name.endsWith(is)) throw new Error(`The arrow ${name} now ends at ${is}.`);
  }
  return picture(860, 300, 'The life of one create in a push', [
    box(40, 110, 150, 64, ['none', 'nothing is under way']),
    box(355, 110, 150, 64, ['sent', 'its outcome is open']),
    box(670, 110, 150, 64, ['made', 'its id is known']),
    arrow('M190 130H349'),
    text(270, 122, 'key and draft are stored', 'small', 'middle'),
    text(270, 148, 'then it is sent', 'small', 'middle'),
    arrow('M505 142H664'),
    text(585, 134, '2xx, or a list shows it', 'small', 'middle'),
    arrow('M400 174V206H150V180'),
    text(270, 224, 'rejected, at its first sending', 'small', 'middle'),
    arrow('M400 110V66H460V104'),
    text(430, 34, 'no response, and no list shows it:', 'small', 'middle'),
    text(430, 52, 'sent again under the same key, then under a new one', 'small', 'middle'),
    arrow('M745 174V256H80V180'),
    text(430, 276, 'two looks do not show it: it was deleted', 'small', 'middle'),
  ]);
}

/** The tables of a copy with their columns, as the package creates them. */
function copy(): string {
  const about: Readonly<Record<keyof typeof TABLES, string>> = {
    record: 'each record, as JSON',
    seen: 'ids of the last full read',
    checkpoint: 'where to resume',
    field: 'columns of the views',
    status: 'what the last run did',
  };
  const names = Object.keys(TABLES) as (keyof typeof TABLES)[];
  const width = 164;
  const tallest = Math.max(...names.map((name) => namesIn(TABLES[name].columns).length));
  const bottom = 214 + tallest * 18;
  const tables = names.flatMap((name, index) => {
    const left = 24 + index * (width + 10);
    const { columns, key } = TABLES[name];
    const keys = key.split(', ');
    return [
      `<rect class="box" x="${left}" y="140" width="${width}" height="${bottom - 150}" rx="8"/>`,
      text(left + 12, 162, name, 'title'),
      text(left + 12, 180, about[name], 'small'),
      ...namesIn(columns).map((column, row) =>
        text(left + 12, 204 + row * 18, keys.includes(column) ? `${column} *` : column, 'code'),
      ),
    ];
  });
  return picture(24 + names.length * (width + 10) + 14, bottom + 26, 'The views and tables of a copy', [
    box(
      24,
      24,
      380,
      66,
      ['products, accounts, account_addresses, …', 'one view for each collection, a column for each field'],
      'box',
    ),
    box(720, 24, 164, 66, ['sync_status', 'a view']),
    arrow('M106 140V96'),
    arrow('M800 140V96'),
    ...tables,
    text(24, bottom + 14, '* part of the primary key', 'small'),
  ]);
}

/** Every picture by its name. */
export async function pictures(): Promise<Readonly<Record<string, string>>> {
  return {
    overview: overview(),
    performance: performance(),
    keyset: await keyset(),
    create: create(),
    copy: copy(),
  };
}

if (import.meta.main) {
  for (const [name, svg] of Object.entries(await pictures())) {
    writeFileSync(new URL(`pictures/${name}.svg`, guides), svg);
  }
}
