import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/**
 * A local proxy that records the requested hosts: it tunnels CONNECT, unless it is to respond to it with a status, and
 * forwards other requests.
 */
export async function startProxy({ connectStatus }: { readonly connectStatus?: number } = {}) {
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '');
    targets.push(url.host);
    const { method, headers } = incoming;
    const onward = request(url, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => incoming.socket.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket: Socket, head: Buffer) => {
    targets.push(incoming.url ?? '');
    authorizations.push(incoming.headers['proxy-authorization']);
    if (connectStatus !== undefined) {
      socket.end(`HTTP/1.1 ${connectStatus} Rejected\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const [host = '', port] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on('error', () => {});
    sockets.add(onward);
  });
  server.on('connection', (socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    targets,
    authorizations,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
