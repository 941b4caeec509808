import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect } from 'vitest';
import { call, ids } from './call.ts';

/**
 * A request and what its response is: the ids of a list in a string, a status, or fields of a record. `POST k` creates a
 * product under the key k, and `GET 1`, `PATCH 1` and `DELETE 1` are about product 1. A number advances the clock by ms.
 */
export type Step = number | readonly [request: string, expected: string | number | object, body?: object];

export async function play(sandbox: Sandbox, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'number') {
      sandbox.clock.advance(step);
      continue;
    }
    const [request, expected, body] = step;
    const [method = '', what = ''] = request.split(' ');
    const isCreate = method === 'POST';
    const path = what.startsWith('/') ? what : isCreate ? '/products' : `/products/${what}`;
    const sent = isCreate ? { idempotencyKey: what, body: body ?? {} } : { body };
    const response = await call(sandbox, path, { method, ...sent });
    if (typeof expected === 'string') expect([request, ids(response).join(' ')]).toEqual([request, expected]);
    else if (typeof expected === 'number') expect([request, response.status]).toEqual([request, expected]);
    else expect([request, response.record]).toMatchObject([request, expected]);
  }
}
