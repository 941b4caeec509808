import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Message } from './messages.ts';

interface Run {
  readonly tenant: string;
  readonly start: number;
  end: number;
}

/** Worker processes, of which each that is killed is started again, and what they report. */
export class Processes {
  readonly statuses = new Map<string, number>();
  queries = 0;
  memory = 0;
  /** Runs that a kill ended. */
  killed = 0;
  readonly #runs: Run[] = [];
  readonly #workers = new Map<ChildProcess, Map<string, Run>>();
  readonly #start: () => ChildProcess;

  constructor(count: number, options: { readonly args: readonly string[]; readonly url: string }) {
    const env = { ...process.env, DATABASE_URL: options.url };
    this.#start = () => fork(join(import.meta.dirname, 'worker.ts'), [...options.args], { env });
    for (let worker = 0; worker < count; worker += 1) this.#add();
  }

  #add(): void {
    const child = this.#start();
    const running = new Map<string, Run>();
    this.#workers.set(child, running);
    child.on('message', (message: Message) => {
      const { tenant, at } = message;
      const before = running.get(tenant);
      if (before !== undefined) before.end = at;
      running.delete(tenant);
      if (message.kind === 'start') {
        const run = { tenant, start: at, end: Number.POSITIVE_INFINITY };
        this.#runs.push(run);
        running.set(tenant, run);
        return;
      }
      this.statuses.set(message.status, (this.statuses.get(message.status) ?? 0) + 1);
      this.queries += message.queries;
      this.memory = Math.max(this.memory, message.memory);
    });
  }

  /** Kills one of them with SIGKILL, and starts another. */
  async kill(): Promise<void> {
    const children = [...this.#workers.keys()];
    const child = children[Math.floor(Math.random() * children.length)] as ChildProcess;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const running = [...(this.#workers.get(child)?.values() ?? [])];
    for (const run of running) run.end = performance.timeOrigin + performance.now();
    this.killed += running.length;
    this.#workers.delete(child);
    this.#add();
  }

  /** Ends all of them with SIGTERM. Returns their exit codes. */
  async stop(): Promise<readonly unknown[]> {
    return await Promise.all(
      [...this.#workers.keys()].map(async (child) => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        const [code, signal] = await exited;
        return code ?? signal;
      }),
    );
  }

  get runs(): number {
    return this.#runs.length;
  }

  /** Runs of one company that another process began before they had ended. */
  get overlaps(): number {
    const ends = new Map<string, number>();
    let overlaps = 0;
    for (const { tenant, start, end } of this.#runs.toSorted((a, b) => a.start - b.start)) {
      const before = ends.get(tenant) ?? 0;
      if (start < before) overlaps += 1;
      ends.set(tenant, Math.max(before, end));
    }
    return overlaps;
  }
}
