/**
 * Requests per second of the sandbox against a bare node:http server that sends the same prepared page, in one run:
 * rounds take turns, so that a busy machine slows both. Prints the medians and their ratio; the goal is 0.5. Beside
 * them stands the processor time of the server for a request, which does not depend on what else the machine does.
 *
 * The load comes from a process of its own, over keep-alive connections, without looking into what it reads.
 */
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createSandbox } from '../../src/testing/index.ts';

const CONNECTIONS = 8;
const ROUNDS = 5;
const ROUND_MS = 1000;
const API = '/api/public/v1';

/** Sends the same request over some connections for a while; prints how many answers came. */
async function load(port: number, key: string, paths: string[]): Promise<void> {
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-AUTH-TOKEN: ${key}\r\n\r\n`);
  const until = performance.now() + ROUND_MS;
  let answers = 0;
  const worker = () =>
    new Promise<void>((resolve) => {
      let expected = 0;
      let received = 0;
      const socket = connect(port, '127.0.0.1');
      const next = () => {
        expected = 0;
        received = 0;
        socket.write(requests[answers % requests.length] ?? '');
      };
      socket.on('connect', next);
      socket.on('data', (bytes) => {
        if (expected === 0) {
          const head = bytes.toString('latin1', 0, Math.min(bytes.length, 2048));
          const end = head.indexOf('\r\n\r\n') + 4;
          expected = end + Number(/content-length: (\d+)/i.exec(head)?.[1]);
        }
        received += bytes.length;
        if (received < expected) return;
        answers += 1;
        if (performance.now() < until) next();
        else socket.end(resolve);
      });
    });
  const started = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  console.log(`${answers} ${performance.now() - started}`);
}

/** What a round gave. */
interface Round {
  /** Requests a second. */
  readonly rate: number;
  /** Processor time of this process, the server's, for a request, in µs. */
  readonly cpu: number;
}

function measure(port: number, key: string, paths: string[]): Promise<Round> {
  const self = fileURLToPath(import.meta.url);
  const before = process.cpuUsage();
  const child = spawn(process.execPath, [self, 'load', String(port), key, ...paths], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (bytes) => {
      text += bytes;
    });
    child.on('close', () => {
      const { user, system } = process.cpuUsage(before);
      const [answers = 0, ms = 1] = text.split(' ').map(Number);
      resolve({ rate: (answers / ms) * 1000, cpu: (user + system) / answers });
    });
  });
}

/** A server that does nothing but send a page that it has. */
async function bare(page: Buffer): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': String(page.byteLength),
    });
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const middle = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const median = (rounds: Round[]): Round => ({
  rate: middle(rounds.map(({ rate }) => rate)),
  cpu: middle(rounds.map(({ cpu }) => cpu)),
});

function line(name: string, { rate, cpu }: Round, base: Round): string {
  const shown = Math.round(rate).toLocaleString('en').padStart(8);
  const ratios = `${(rate / base.rate).toFixed(2)} of the rate, ${(base.cpu / cpu).toFixed(2)} by processor time`;
  return `  ${name.padEnd(24)}${shown} requests/s  ${cpu.toFixed(0).padStart(5)} µs   ${ratios}`;
}

async function compare(collection: string): Promise<void> {
  const sandbox = createSandbox({ records: 100_000, rateLimit: false });
  const { port } = await sandbox.listen();
  const path = `${API}/${collection}`;
  const response = await fetch(`${sandbox.baseUrl}${path}`, {
    headers: { 'X-AUTH-TOKEN': sandbox.keys.full },
  });
  const page = Buffer.from(await response.arrayBuffer());
  const server = await bare(page);

  const walk = Array.from({ length: 250 }, (_, i) => `${path}?_page=${i + 1}`);
  const rounds = { bare: [] as Round[], sandbox: [] as Round[], walk: [] as Round[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.bare.push(await measure((server.address() as AddressInfo).port, 'none', [path]));
    rounds.sandbox.push(await measure(port, sandbox.keys.full, [path]));
    rounds.walk.push(await measure(port, sandbox.keys.full, walk));
  }
  server.close();
  await sandbox.close();

  const base = median(rounds.bare);
  console.log(
    `${collection}, a page of ${page.byteLength.toLocaleString('en')} bytes (goal: 0.50 of the rate)`,
  );
  console.log(line('bare node:http', base, base));
  console.log(line('sandbox, the same page', median(rounds.sandbox), base));
  console.log(line('sandbox, page by page', median(rounds.walk), base));
}

const [mode, port, key, ...paths] = process.argv.slice(2);
if (mode === 'load') await load(Number(port), key ?? '', paths);
else for (const collection of ['accounts', 'products']) await compare(collection);
