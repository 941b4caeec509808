import { randomUUID } from 'node:crypto';
import { productFields } from '../suite/contract-text.ts';
import { type Defect, eachRecord, misread, missay, type Passing } from './defect.ts';

const creates = ({ method, url }: Passing) => method === 'POST' && url.pathname.endsWith('/products');
const updates = ({ method }: Passing) => method === 'PATCH';

const create: readonly Defect[] = [
  misread('a replay makes a second record', 'a repeat with the same Idempotency-Key', ({ headers }) => {
    if (headers['Idempotency-Key'] !== undefined) headers['Idempotency-Key'] = randomUUID();
  }),
  misread('many at once make many records', 'many at once with the same Idempotency-Key', ({ headers }) => {
    if (headers['Idempotency-Key'] !== undefined) headers['Idempotency-Key'] = randomUUID();
  }),
  misread(
    'every create is taken for a replay of the first',
    'two Idempotency-Keys create two records',
    (request) => {
      if (creates(request)) request.headers['Idempotency-Key'] = 'always the same';
    },
  ),
  misread('a create needs no Idempotency-Key', 'without Idempotency-Key it is 422', (request) => {
    if (creates(request)) request.headers['Idempotency-Key'] ??= randomUUID();
  }),
  missay('the answer to a create lacks a field', 'the answer is one product with every field', (answer) => {
    if (!creates(answer.request)) return;
    eachRecord(answer, (record) => {
      delete record.updatedAt;
    });
  }),
  missay('the answer to a create is empty', 'the answer is one product with every field', (answer) => {
    if (creates(answer.request) && answer.status === 201) answer.text = '{}';
  }),
  misread('text is read as Latin-1', 'text beyond ASCII arrives as it was sent', (request) => {
    const { body } = request;
    if (typeof body?.name === 'string') body.name = Buffer.from(body.name).toString('latin1');
  }),
  {
    name: 'a client can set createdAt',
    caughtBy: 'a client cannot set what the service fills',
    spoil: (send) => async (url, init) => {
      const { createdAt, ...body } = JSON.parse(init.body || '{}') as Record<string, unknown>;
      if (createdAt === undefined || init.method !== 'POST') return send(url, init);
      const response = await send(url, { ...init, body: JSON.stringify(body) });
      const record = { ...((await response.json()) as object), createdAt };
      return new Response(JSON.stringify(record), { status: response.status, headers: response.headers });
    },
  },
];

const update: readonly Defect[] = [
  misread('null does not clear', 'a text sent as null is cleared', (request) => {
    if (updates(request) && request.body !== undefined) {
      request.body = Object.fromEntries(Object.entries(request.body).filter(([, value]) => value !== null));
    }
  }),
  misread('null clears texts alone', 'a field sent as null is cleared, whatever its type', (request) => {
    if (updates(request) && request.body?.stockQuantity === null) delete request.body.stockQuantity;
  }),
  misread('an update is a replacement', 'a field left out keeps its value', (request) => {
    if (!updates(request) || request.body === undefined) return;
    const empty = productFields.filter(({ responseOnly }) => !responseOnly).map(({ name }) => [name, null]);
    request.body = { ...Object.fromEntries(empty), ...request.body };
  }),
  missay(
    'the answer to an update has the changed fields alone',
    'the answer is one product with all fields',
    (answer) => {
      if (!updates(answer.request) || answer.status !== 200) return;
      const { id } = JSON.parse(answer.text) as { id: string };
      answer.text = JSON.stringify({ id, ...answer.request.body });
    },
  ),
  missay('updatedAt stays', 'updatedAt tells the change, createdAt stays', (answer) =>
    eachRecord(answer, (record) => {
      record.updatedAt = record.createdAt;
    }),
  ),
  misread('one field is never stored', 'every field can be set by create and by update', ({ body }) => {
    delete body?.upcCode;
  }),
  {
    name: 'an update that is refused is carried out in part',
    caughtBy: 'what is refused changes nothing',
    spoil: (send) => async (url, init) => {
      const response = await send(url, init);
      if (init.method === 'PATCH' && response.status === 422) {
        const { brand } = JSON.parse(init.body ?? '{}') as { brand?: unknown };
        await send(url, { ...init, body: JSON.stringify({ brand }) });
      }
      return response;
    },
  },
];

const other: readonly Defect[] = [
  {
    name: 'a delete deletes nothing',
    caughtBy: 'a deleted product is gone',
    spoil: (send) => (url, init) =>
      init.method === 'DELETE' ? Promise.resolve(new Response(null, { status: 204 })) : send(url, init),
  },
  {
    name: 'a delete takes the one before it along',
    caughtBy: 'a delete takes one product and no other',
    spoil: (send) => async (url, init) => {
      const id = Number(/\/products\/(\d+)$/.exec(url)?.[1]);
      if (init.method === 'DELETE') await send(url.replace(/\d+$/, String(id - 1)), init);
      return send(url, init);
    },
  },
  misread(
    'a body of the wrong type is overlooked',
    'create: content of the wrong type is 422',
    ({ body }) => {
      if (typeof body?.isInactive !== 'boolean') delete body?.isInactive;
    },
  ),
  misread(
    'any Content-Type will do',
    'create: a Content-Type other than application/json',
    ({ headers, method }) => {
      if (method !== 'GET') headers['Content-Type'] = 'application/json';
    },
  ),
  missay('a body that cannot be read is 422', 'update: a body that is no JSON object is 400', (answer) => {
    if (answer.status === 400) answer.status = 422;
  }),
  missay(
    'a body that cannot be read has another type',
    'create: a body that is no JSON object is 400',
    (answer) => {
      answer.text = answer.text.replace('malformed_request', 'bad_request');
    },
  ),
  missay('a read-only collection can be written', 'cannot be written: two operations, no more', (answer) => {
    if (answer.status === 405) answer.status = 200;
  }),
];

export const writingDefects: readonly Defect[] = [...create, ...update, ...other];
