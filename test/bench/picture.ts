import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Table } from './support/part.ts';

/** One bar: what a client takes for a record, of what the fetch loop takes. */
interface Bar {
  readonly client: string;
  readonly page: string;
  readonly ratio: number;
  readonly ours: boolean;
}

/** The walk tables as bars, an SVG that stands on a ground of its own, light or dark around it. */
export async function drawWalk(tables: readonly Table[]): Promise<string> {
  const bars = tables.flatMap(({ title, rows }) => {
    const page = /(\d+) a page/.exec(title)?.[0] ?? title;
    return rows.map(([client = '', , ratio = '']): Bar => {
      const label = client.replace(', validated', ' ✓');
      return { client: label, page, ratio: Number.parseFloat(ratio), ours: client.startsWith('accounting') };
    });
  });
  const { spec } = compile(chart(bars));
  const svg = await new View(parse(spec), { renderer: 'none' }).toSVG();
  return `${svg}\n`;
}

function chart(bars: readonly Bar[]): TopLevelSpec {
  const y = { field: 'client', type: 'nominal', sort: { field: 'ratio', op: 'min' }, title: null } as const;
  const x = {
    field: 'ratio',
    type: 'quantitative',
    title: 'processor time for a record, fetch loop = 1',
  } as const;
  return {
    background: '#ffffff',
    padding: 16,
    title: {
      text: 'Walking records of 68 fields',
      subtitle: 'lower is better; ✓ validates every field',
      anchor: 'start',
      offset: 12,
    },
    data: { values: bars.map((bar) => ({ ...bar })) },
    facet: { column: { field: 'page', title: null, sort: ['100 a page', '30 a page'] } },
    spec: {
      width: 260,
      height: { step: 24 },
      layer: [
        {
          mark: { type: 'bar', cornerRadiusEnd: 2 },
          encoding: {
            y,
            x,
            color: {
              field: 'ours',
              type: 'nominal',
              scale: { domain: [true, false], range: ['#0b6e4f', '#b8c1cc'] },
              legend: null,
            },
          },
        },
        {
          mark: { type: 'text', align: 'left', dx: 4 },
          encoding: { y, x, text: { field: 'ratio', type: 'quantitative', format: '.2f' } },
        },
      ],
    },
    config: {
      font: 'system-ui, sans-serif',
      view: { stroke: null },
      axis: { domain: false, ticks: false, labelFontSize: 12, labelLimit: 260, gridColor: '#e6e9ed' },
      axisX: { tickCount: 4, titleFontWeight: 'normal' },
      title: { fontSize: 15, subtitleFontSize: 12, subtitleColor: '#57606a' },
      header: { labelFontSize: 12, labelFontWeight: 'bold' },
    },
  };
}
