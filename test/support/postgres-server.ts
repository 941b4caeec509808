import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

type Row = Readonly<Record<string, unknown>>;

/** Connections to a server, as `postgresTarget` takes them. */
export interface Connections {
  query(sql: string, values?: string[]): Promise<readonly Row[]>;
  end(): Promise<void>;
}

type Postgres = (settings: object) => {
  unsafe(text: string, values: readonly string[]): Promise<readonly Row[]>;
  end(settings: object): Promise<void>;
};

/** Connects to the server in a folder. Its sessions have this name there. */
export function connections(folder: string, name: string, max = 10): Connections {
  const user = { path: join(folder, '.s.PGSQL.5432'), user: 'postgres', database: 'postgres' };
  const settings = { max, connection: { application_name: name }, onnotice: () => {}, fetch_types: false };
  const postgres = createRequire(import.meta.url)('postgres') as Postgres;
  const sql = postgres({ ...user, ...settings, backoff: () => 0.02 });
  return {
    query: (text, values = []) => sql.unsafe(text, values),
    end: () => sql.end({ timeout: 5 }),
  };
}

/** Where the programs of a server are; undefined if there is none on this machine. */
function programs(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const packaged = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, 'bin'))
    : [];
  return [...packaged.reverse(), ...(process.env.PATH ?? '').split(delimiter)].find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
}

const found = programs();

/** Whether this machine can start a server: without one, the same is tested with scripted connections. */
export const hasServer = found !== undefined;

/** A PostgreSQL server of its own, for what takes several sessions. It listens on a socket in its folder only. */
export class PostgresServer {
  /** Where its socket is. */
  readonly folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.folder = folder;
    this.#process = process;
  }

  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'pg-'));
    // PostgreSQL does not run as root.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid);
    const data = join(folder, 'data');
    const bin = found ?? '';
    const options = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    execFileSync(join(bin, 'initdb'), ['-D', data, ...options], { ...nobody, stdio: 'pipe' });
    const settings = [
      'listen_addresses=',
      `unix_socket_directories=${folder}`,
      'fsync=off',
      'max_connections=40',
    ];
    const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    const child = spawn(join(bin, 'postgres'), args, { ...nobody, stdio: 'ignore' });
    const server = new PostgresServer(folder, child);
    // A test run that is stopped leaves no server.
    process.once('exit', () => child.kill('SIGQUIT'));
    for (let attempts = 0; ; attempts++) {
      const first = connections(folder, 'start', 1);
      try {
        await first.query('SELECT 1');
        return server;
      } catch (error) {
        if (attempts > 200) {
          await server.stop();
          throw error;
        }
        await wait(50);
      } finally {
        await first.end();
      }
    }
  }

  async stop(): Promise<void> {
    // An immediate shutdown: its data is thrown away.
    this.#process.kill('SIGQUIT');
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, 'exit');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
