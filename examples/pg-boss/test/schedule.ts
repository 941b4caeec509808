import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOf } from '../src/schedule.ts';

const TENANTS = Array.from({ length: 700 }, (_, index) => `company-${index}`);
const HOUR_MS = 3_600_000;
const MONDAY = Date.UTC(2026, 0, 5);

test('a company starts in the same minute of every hour, with a jitter of less than ten seconds', () => {
  const at = (now: number, random: number) => slotOf('acme', new Date(now), random).startAfter.getTime();
  const first = at(MONDAY, 0);
  assert.equal(at(MONDAY + HOUR_MS - 1, 0), first);
  assert.equal(at(MONDAY + 5 * HOUR_MS, 0), first + 5 * HOUR_MS);
  assert.equal(at(MONDAY, 0.5), first + 5_000);
  for (const tenant of TENANTS) {
    const start = slotOf(tenant, new Date(MONDAY), 0.999).startAfter.getTime();
    assert.ok(start >= MONDAY && start < MONDAY + HOUR_MS, tenant);
  }
});

test('companies are spread over the hour', () => {
  const tenths = TENANTS.map((tenant) =>
    Math.floor(slotOf(tenant, new Date(MONDAY)).startAfter.getUTCMinutes() / 10),
  );
  for (let part = 0; part < 6; part++) {
    const count = tenths.filter((each) => each === part).length;
    assert.ok(count > 80, `${count} companies in part ${part}`);
  }
});

test('each company is read in full once a week, and every day has some of them', () => {
  const days = TENANTS.flatMap((tenant) => {
    const hours = Array.from({ length: 168 }, (_, hour) => hour).filter(
      (hour) => slotOf(tenant, new Date(MONDAY + hour * HOUR_MS)).mode === 'full',
    );
    assert.equal(hours.length, 1, tenant);
    return hours.map((hour) => Math.floor(hour / 24));
  });
  for (let day = 0; day < 7; day++) {
    const count = days.filter((each) => each === day).length;
    assert.ok(count > 60, `${count} companies on day ${day}`);
  }
});
