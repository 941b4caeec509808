/** The service of the bench, in a process of its own: the same records, wrapped as each client expects them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BYTES, FIRST_ID, recordJson } from './records.ts';

export interface ServerOptions {
  readonly pageSize: number;
  readonly records: number;
  /** Before each response. */
  readonly latencyMs?: number;
}

const { pageSize, records, latencyMs = 0 } = JSON.parse(process.argv[2] ?? '') as ServerOptions;

/** Records of different content; the ids are replaced. */
const KINDS = Math.min(pageSize, records);

/** Twice, so that a page can begin with each of them. */
const template = Buffer.from(
  `[${Array.from({ length: 2 * KINDS }, (_, index) => recordJson(index % KINDS)).join(',')}]`,
);
const ID_OFFSET = '[{"id":"'.length;

/** The JSON array of a page of records, from one on and before another. */
function rows(from: number, end = records): Buffer {
  const count = Math.max(0, Math.min(pageSize, Math.min(end, records) - from));
  if (count === 0) return Buffer.from('[]');
  const start = from % KINDS;
  const page = Buffer.from(template.subarray(start * (BYTES + 1), (start + count) * (BYTES + 1) + 1));
  for (let row = 0; row < count; row += 1) {
    page.write(String(FIRST_ID + from + row), ID_OFFSET + row * (BYTES + 1), 'latin1');
  }
  page[0] = 0x5b;
  page[page.length - 1] = 0x5d;
  return page;
}

/** Where the records after an id begin. */
const after = (id: string | null): number => (id === null ? 0 : Number(id) - FIRST_ID + 1);

const LAST_ID = String(FIRST_ID + records - 1);
const wrapped = (head: string, from: number, tail: string) =>
  Buffer.concat([Buffer.from(`{${head}`), rows(from), Buffer.from(`${tail}}`)]);

function listResponse({ pathname, searchParams: query }: URL): Buffer {
  if (pathname.endsWith('/api/public/v1/products')) {
    const from = after(query.get('id[gt]')) + (Number(query.get('_page') ?? 1) - 1) * pageSize;
    return rows(from, after(query.get('id[lte]') ?? LAST_ID));
  }

  if (pathname === '/v1/products') {
    const from = after(query.get('starting_after'));
    const more = from + pageSize < records;
    return wrapped('"object":"list","data":', from, `,"has_more":${more},"url":"/v1/products"`);
  }
  if (pathname === '/v1/files') {
    const from = after(query.get('after'));
    return wrapped('"object":"list","data":', from, `,"has_more":${from + pageSize < records}`);
  }
  if (pathname === '/v1/users') {
    const from = Number(query.get('start_cursor') ?? 0);
    const next = from + pageSize < records ? `"${from + pageSize}"` : 'null';
    const tail = `,"has_more":${next !== 'null'},"next_cursor":${next},"type":"user"`;
    return wrapped('"object":"list","results":', from, tail);
  }
  throw new Error(`There is no ${pathname}.`);
}

const LIMIT = 100_000_000;
let served = 0;

const server = createServer((request, response) => {
  const body = listResponse(new URL(request.url ?? '/', `http://${request.headers.host}`));
  served += 1;
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.byteLength,
    'X-RateLimit-Limit': LIMIT,
    'X-RateLimit-Remaining': LIMIT - served,
  };
  const send = () => response.writeHead(200, headers).end(body);
  if (latencyMs === 0) send();
  else setTimeout(send, latencyMs);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
