// The books as a process of their own: sandboxes that listen, opened and looked into by order.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import type { Look, Opened, Order } from '../scenario/books.ts';

const open: Sandbox[] = [];

async function obey(order: Order): Promise<unknown> {
  if (order.do === 'open') {
    const sandbox = createSandbox(order.options);
    const { url: baseUrl } = await sandbox.listen();
    return { id: open.push(sandbox) - 1, baseUrl, keys: sandbox.keys } satisfies Opened;
  }
  const sandbox = open[order.id];
  if (sandbox === undefined) throw new Error(`There are no books ${order.id}.`);
  switch (order.do) {
    case 'close':
      return sandbox.close();
    case 'fault':
      return void sandbox.faults.add(order.fault, order.match);
    case 'insert':
      return Array.from({ length: order.count }, () => sandbox.store.accounts.insert({ name: 'New' }).id);
    case 'look':
      return look(sandbox);
  }
}

function look({ store, requests, journal }: Sandbox): Look {
  return {
    accounts: store.accounts.ids(),
    products: store.products.ids(),
    requests: requests.map(({ method, status, fault, idempotencyKey }) => ({
      method,
      ...(status !== undefined && { status }),
      ...(fault !== undefined && { fault }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    })),
    created: journal.filter(({ action }) => action === 'create').length,
  };
}

const server = createServer(async (request, response) => {
  response.setHeader('Access-Control-Allow-Origin', '*');
  try {
    const answer = await obey(JSON.parse(await text(request)) as Order);
    response.end(JSON.stringify(answer ?? null));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit(0));
