import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { ConnectorProcess, ConnectorRun } from 'accounting-data-sdk/testing';

const script = fileURLToPath(new URL('./pull.py', import.meta.url));

/** The interpreter itself: `python3` can be a script that looks for it, and takes as long as the connector. */
const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)']);
const python = String(stdout).trim();

export const hasPython = status === 0;

/** A connector in Python, as a process of its own, with its copy in a file. */
export function pythonByPage(file: string) {
  return {
    reset: () => rmSync(file, { force: true }),
    records(name: string): Record<string, unknown>[] {
      const database = new DatabaseSync(file);
      try {
        return database.prepare(`select * from ${name}`).all();
      } finally {
        database.close();
      }
    },
    run({ baseUrl, apiKey }: ConnectorRun): ConnectorProcess {
      // Without the packages that are installed, it starts in less time.
      const child = spawn(python, ['-I', '-S', script, baseUrl, apiKey, file], {
        stdio: 'ignore',
      });
      const done = new Promise<void>((resolve, reject) => {
        child.once('close', (code) =>
          code === 0 ? resolve() : reject(new Error(`python3 ended with code ${code}`)),
        );
      });
      return { done, kill: () => child.kill('SIGKILL') };
    },
  };
}
