import { known, unknown } from './finding.ts';
import { rejectedOrUnknown } from './id-bounds.ts';
import type { FirstPage } from './pages.ts';
import type { FilterVerdict, Finding } from './report.ts';
import type { ProbeSession } from './session.ts';

/** The parameter of API Platform, which the service is probably built on. */
export const PAGE_SIZE_PARAMETER = 'itemsPerPage';

/** Few requests, and no response that takes long. */
export const LARGE_PAGE = 100;

/** Whether a list has larger pages with the parameter. */
export async function probePageSize(
  session: ProbeSession,
  { segment, rows }: FirstPage,
  hasSecond: boolean,
): Promise<Finding<FilterVerdict>> {
  if (!hasSecond) return unknown('there is no second page');
  if (rows.length >= LARGE_PAGE) return unknown(`a page has ${rows.length} records without it`);

  const name = `${PAGE_SIZE_PARAMETER}=${LARGE_PAGE}`;
  const response = await session.list(segment, { [PAGE_SIZE_PARAMETER]: String(LARGE_PAGE) });
  if (!response.ok) return rejectedOrUnknown(response, name);
  const found = response.rows.length;
  return known(
    found > rows.length ? 'honoured' : 'ignored',
    `${name} returns ${found} records, without it there are ${rows.length}`,
  );
}
