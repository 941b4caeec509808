import * as testing from 'accounting-data-sdk/testing';
import * as assert from './assert.ts';
import { observed } from './observe.ts';
import * as standIns from './stand-ins.ts';

/** A sandbox whose requests are on the timeline. */
function createSandbox(options?: testing.SandboxOptions): testing.Sandbox {
  return observed(testing.createSandbox(options));
}

/** What a program can import. */
const MODULES: Readonly<Record<string, () => Promise<object>>> = {
  'accounting-data-sdk': () => import('accounting-data-sdk'),
  'accounting-data-sdk/schemas': () => import('accounting-data-sdk/schemas'),
  'accounting-data-sdk/explore': () => import('accounting-data-sdk/explore'),
  'accounting-data-sdk/testing': async () => ({ ...testing, createSandbox }),
  'accounting-data-sdk/targets': async () => ({ sqliteTarget: standIns.sqliteTarget }),
  'accounting-data-sdk/node': async () => ({ fileStore: standIns.fileStore }),
  'node:assert/strict': async () => assert,
  'node:timers/promises': async () => ({
    setTimeout: (ms: number, value: unknown) =>
      new Promise((resolve) => setTimeout(() => resolve(value), ms)),
  }),
  zod: () => import('zod'),
};

export async function load(name: string): Promise<object> {
  const module = MODULES[name];
  if (module !== undefined) return await module();
  throw new Error(`The playground has no module ${name}. It has ${Object.keys(MODULES).join(', ')}.`);
}
