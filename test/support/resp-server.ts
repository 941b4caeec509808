import { createServer, type Socket } from 'node:net';

/** The commands that a store needs of Redis, over RESP 2. */
const COMMANDS: Readonly<Record<string, (keys: Map<string, string>, args: readonly string[]) => string>> = {
  GET: (keys, [key = '']) => bulk(keys.get(key)),
  SET(keys, [key = '', value = '']) {
    keys.set(key, value);
    return '+OK\r\n';
  },
  DEL: (keys, [key = '']) => `:${Number(keys.delete(key))}\r\n`,
  PING: () => '+PONG\r\n',
  CLIENT: () => '+OK\r\n',
  INFO: () => bulk('redis_version:7.0.0\r\nloading:0\r\n'),
  QUIT: () => '+OK\r\n',
};

function bulk(text: string | undefined): string {
  return text === undefined ? '$-1\r\n' : `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

/** A server that speaks as much of the protocol of Redis as its two clients need to get and set. */
export async function startRespServer() {
  const keys = new Map<string, string>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let read = readCommand(received); read !== undefined; read = readCommand(received)) {
        received = received.slice(read.length);
        const [name = '', ...args] = read.words;
        const command = COMMANDS[name.toUpperCase()];
        socket.write(command === undefined ? `-ERR unknown command '${name}'\r\n` : command(keys, args));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    keys,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One command, an array of bulk strings; undefined where it has not come whole. */
function readCommand(text: string): { words: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let at = head[0].length;
  for (let left = Number(head[1]); left > 0; left--) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at));
    if (size === null) return undefined;
    const from = at + size[0].length;
    at = from + Number(size[1]) + 2;
    if (text.length < at) return undefined;
    words.push(text.slice(from, at - 2));
  }
  return { words, length: at };
}
