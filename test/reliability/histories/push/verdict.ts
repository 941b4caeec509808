// What does not hold in a history of pushes, by the service's own journal.

import type { ProductDraft, PushResult } from 'accounting-data-sdk';
import { columnsOf, differingField } from '../../../../src/testing/connector/same-value.ts';
import type { Fields } from '../../../../src/testing/connector/timeline.ts';
import { formOf, type Pushes, type PushHistory, type Run, wasKilled, wasStopped } from './history.ts';

/** Empty if all is well. */
export function verdictOn({ pushes, duplicates }: PushHistory): string[] {
  return [...duplicates, ...pushes.flatMap(pushesThatBreak)];
}

function pushesThatBreak({ products, runs, clean }: Pushes): string[] {
  const [before, last] = clean.slice(-2) as [Run, Run];
  return [
    ...[...runs, ...clean].flatMap((run, n) => runThatBreaks(run).map((what) => `run ${n + 1}: ${what}`)),
    ...clean.flatMap(({ error }) => (error === undefined ? [] : [`a quiet run rejected: ${error}`])),
    ...last.commits.flatMap(({ action, id }) =>
      wasUnseen(before, last, id) ? [] : [`an unnecessary ${action} of ${id}`],
    ),
    ...endThatBreaks(products, before, last),
  ];
}

/** Whether a product is of a row that the run before did not create: its list was not complete, or it sent no more creates. */
function wasUnseen(before: Run, last: Run, id: string): boolean {
  const key = last.results.find((result) => result.id === id)?.key;
  return before.results.some(
    (result) => result.key === key && (isUnseen(result, before) || isUnsent(result)),
  );
}

/** Whether a row was not created because the service changed the keys of three creates in a row. */
function isUnsent({ action, error }: PushResult): boolean {
  return action === 'failed' && error?.code === 'invalid_input';
}

/** Whether a row was not created because the list repeats products, so that it also misses some. */
function isUnseen({ action, error }: PushResult, { report }: Run): boolean {
  return action === 'failed' && report?.complete === 'likely' && error?.code === 'unexpected_response';
}

/** Every key exists once with the values of its row, or the row was reported as failed. */
function endThatBreaks(products: readonly object[], before: Run, last: Run): string[] {
  const { rows, results } = last;
  return rows.flatMap((row) => {
    const key = row.productNumber;
    const found = products.filter((product) => formOf(product) === formOf(row));
    const result = results.find((each) => each.key === key);
    const action = result?.action;
    const isRespelt = found.some((product) => (product as ProductDraft).productNumber !== key);
    if (row.status === 'invalid') {
      const isHandled = action === 'failed' || (isRespelt && action === 'conflict');
      return isHandled ? [] : [`${key}: an invalid row was ${action}`];
    }
    const isMissed = result !== undefined && isUnseen(result, last);
    if ((isMissed || (result !== undefined && isUnsent(result))) && found.length === 0) return [];
    if (found.length !== 1) return [`${key}: ${found.length} products`];
    const isLocked = action === 'failed' && result?.error?.code === 'forbidden';
    if (isMissed || isLocked || (isRespelt && action === 'conflict')) return [];
    const isWritten = action === 'unchanged' || wasUnseen(before, last, (found[0] as { id: string }).id);
    return isWritten && isAsRow(found[0] as object, row) ? [] : [`${key}: ${action}, but differs`];
  });
}

/** Whether a product has the values of a row. The service may store its key in another form. */
function isAsRow(product: object, { productNumber: _, ...row }: ProductDraft): boolean {
  const given = Object.entries(row).filter(([, value]) => value !== undefined);
  return differingField(product as Fields, columnsOf(Object.fromEntries(given))) === undefined;
}

/** A report agrees with the journal. */
function runThatBreaks(run: Run): string[] {
  const { rows, results, report, commits, deleted } = run;
  if (report === undefined && !wasKilled(run) && !wasStopped(run)) return [`rejected with ${run.error}`];
  const broken: string[] = [];
  const isWhole = report !== undefined;
  for (const row of rows) {
    const of = results.filter(({ key }) => key === row.productNumber);
    if (of.length > 1 || (isWhole && of.length === 0))
      broken.push(`${row.productNumber}: ${of.length} results`);
  }
  for (const result of results) broken.push(...resultThatBreaks(result, run));
  const counted = Object.values(report?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  if (isWhole && counted !== results.length) broken.push(`${counted} counted of ${results.length} results`);

  const reported = new Set(
    results.flatMap(({ action, id }) =>
      ['created', 'updated', 'failed', 'conflict'].includes(action) ? [id] : [],
    ),
  );
  const mayBeDone = results.some(({ error }) => error?.outcome === 'unknown' || error?.outcome === 'applied');
  for (const { action, id } of commits) {
    if (isWhole && !reported.has(id) && !deleted.has(id) && !mayBeDone)
      broken.push(`product ${id}: ${action} is not in the report`);
  }
  return broken;
}

function resultThatBreaks(
  { key, action, id, fields, reason, error }: PushResult,
  { commits, created }: Run,
): string[] {
  const of = commits.filter((commit) => commit.id === id);
  // A product that no read showed gets every field, and then null in those that were cleared.
  const sent = of.flatMap((commit) => (commit.action === 'update' ? commit.fields : []));
  if (action === 'created' && !created.has(id ?? ''))
    return [`${key}: created, but product ${id} is not of this run`];
  // An update that was lost may have been unnecessary: what an earlier run wrote can be visible late.
  if (action === 'updated' && !sent.every((name) => fields.includes(name)))
    return [`${key}: ${sent} were sent, but ${fields} reported`];
  // A product whose key came back changed was created, and updated if no read showed it.
  const allowed = reason?.includes('stored another key') ? ['create', 'update'] : ['create'];
  const written = action === 'conflict' ? of.filter((commit) => !allowed.includes(commit.action)) : of;
  if ((action === 'unchanged' || action === 'conflict') && written.length > 0)
    return [`${key}: ${action}, but written`];
  const isDone = of.some((commit) => commit.action === 'update');
  // A row that is still open has the error of its last call, and an earlier one may have been applied.
  if (reason?.includes('run the push again')) return [];
  if (action === 'failed' && error?.outcome === 'rejected' && isDone)
    return [`${key}: rejected, but written`];
  return [];
}
