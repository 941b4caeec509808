import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { rawHead } from '../../support/raw-responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

// A slow machine must not end a response early: only the stalled one waits for the clock.
useVirtualClock();

const LENGTH = 'content-length: 9000';
const JSON_TYPE = 'content-type: application/json';
const HTML_TYPE = 'content-type: text/html; charset=utf-8';
const PAGE = '<!doctype html><h1>Sign in';

/** A 200 whose connection then closes, or stays open without another byte. */
const ok = (headers: readonly string[], body: string | Uint8Array, stays = false): ScriptedResponse => {
  const bytes = Buffer.concat([rawHead(200, headers), Buffer.from(body)]);
  return (_, { socket }) => void socket.write(bytes, () => stays || socket.end());
};

const pages: readonly (readonly [name: string, response: ScriptedResponse])[] = [
  ['a cut page without a content type', ok([LENGTH], PAGE)],
  ['a cut page that claims to be JSON', ok([LENGTH, JSON_TYPE], PAGE)],
  ['a stalled page without a content type', ok([LENGTH], PAGE, true)],
  ['a stalled page of which no byte has arrived', ok([LENGTH, HTML_TYPE], '', true)],
  ['a cut page of which no byte has arrived', ok([LENGTH, HTML_TYPE], '')],
  ['a page that begins with text', ok([HTML_TYPE], 'Sign in <a href="/">here</a>')],
  ['an oversized page that claims to be JSON', ok([JSON_TYPE], PAGE.repeat(300))],
  ['a page in Latin-1 that claims to be JSON', ok([JSON_TYPE], Buffer.from(`${PAGE} für Gäste`, 'latin1'))],
  ['a page in UTF-16 without a content type', ok([], Buffer.from(`\ufeff${PAGE}`, 'utf16le'))],
  ['a page after a kilobyte of blank lines', ok([JSON_TYPE], `\ufeff${'\r\n'.repeat(512)}${PAGE}`)],
];
const each = pages.flatMap(([name, response]) => METHODS.map((method) => ({ name, response, method })));

test.each(each)('$method does not treat $name as a response of the service', async ({ response, method }) => {
  await using server = await scriptedServer(response);
  const responded = Promise.withResolvers<void>();
  const client = quickClient(server.url, {
    on: { response: () => responded.resolve() },
    maxBodyBytes: 4_000,
    retry: { maxAttempts: 1 },
  });
  const error = caught(callWith(client, method));
  await Promise.race([responded.promise, error]);
  await advance(30_000);
  expect(await error).toMatchObject({
    code: expect.stringMatching(/^(?:unexpected_response|timeout)$/),
    outcome: 'unknown',
  });
});
