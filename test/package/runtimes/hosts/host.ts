import type { Service } from '../scenario.ts';

/** A runtime and how to run the scenario on it. */
export interface Host {
  readonly name: string;
  /** The program. `scenario`, `networkFailures` and `overlappingCall` are imported for it. */
  readonly source: string;
  /** `node`: the program imports the installed package. `browser`: the package is bundled into it. */
  readonly platform: 'node' | 'browser';
  /** The program of the runtime. The host is skipped if it is not installed. */
  readonly executable?: string;
  /** Resolves to the result of the scenario. */
  run(program: string, service: Service): Promise<string>;
}
