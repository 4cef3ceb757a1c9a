import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Day } from "../../../shared/zone.ts";
import { formats } from "../../data/session.ts";
import { shortly } from "./metrics.ts";

interface BarsProps {
  readonly days: readonly Day[];
  readonly counts: readonly number[];
  /** The top of the scale, the same in plots that are to be compared. */
  readonly top: number;
  readonly height: number;
  /** What is seen, for those who do not see it. */
  readonly label: string;
  /** Days below and counts beside it. */
  readonly hasAxes: boolean;
  /** Told the day that is pointed at; null: none is. */
  onPoint(at: number | null): void;
}

/** Beside the bars: counts at the left, half a date at the right. */
const LEFT = 32;
const RIGHT = 16;
/** What is pointed at in one plot is so in all. */
const SYNC = "by-day";

/** Of counts: 1, 2, 5, 10, and so on. */
const STEPS = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();

const DARK = "(prefers-color-scheme: dark)";

/** Bars by day. Drawn anew when the window or its colours change. */
export function Bars(props: BarsProps) {
  const place = useRef<HTMLDivElement>(null);
  const { days, counts, top, height, label, hasAxes } = props;
  const point = useRef(props.onPoint);
  point.current = props.onPoint;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let plot: uPlot | null = null;
    const draw = (): void => {
      plot?.destroy();
      const options = optionsFor(element, { days, top, height, hasAxes, onPoint: (at) => point.current(at) });
      plot = new uPlot(options, [days.map((_, at) => at), [...counts]], element);
    };
    const sizes = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    const dark = matchMedia(DARK);
    draw();
    sizes.observe(element);
    dark.addEventListener("change", draw);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", draw);
      plot?.destroy();
    };
  }, [days, counts, top, height, hasAxes]);
  return <div ref={place} class="bars" role="img" aria-label={label} />;
}

type BarsOptions = Pick<BarsProps, "days" | "top" | "height" | "hasAxes" | "onPoint">;

function optionsFor(
  element: HTMLElement,
  { days, top, height, hasAxes, onPoint }: BarsOptions,
): uPlot.Options {
  const { bars } = uPlot.paths;
  const [accent, muted, line] = ["--accent", "--muted", "--line"].map((name) => colourOf(element, name));
  const axis = {
    stroke: muted ?? "",
    font: `12px ${getComputedStyle(element).fontFamily}`,
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height,
    // Days stand below each other in all plots, with or without axes.
    padding: hasAxes ? [8, RIGHT, 0, 0] : [2, RIGHT, 0, LEFT],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: SYNC } },
    scales: { x: { time: false, range: [-0.5, days.length - 0.5] }, y: { range: [0, top] } },
    axes: [
      {
        ...axis,
        show: hasAxes,
        grid: { show: false },
        size: 28,
        space: 72,
        incrs: [1, 7, 14, 28],
        values: (_plot, at) => at.map((one) => dayLabel(days[one])),
      },
      {
        ...axis,
        show: hasAxes,
        size: LEFT,
        grid: { stroke: line ?? "", width: 1 },
        incrs: STEPS,
        values: (_plot, at) => at.map((one) => shortly(one)),
      },
    ],
    series: [
      {},
      {
        fill: accent ?? "",
        width: 0,
        points: { show: false },
        ...(bars !== undefined && { paths: bars({ size: [0.72, 24], radius: 0.2 }) }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

function dayLabel(day: Day | undefined): string {
  return day === undefined ? "" : formats.value.shortDay(day).replace(/^\p{L}+,? /u, "");
}

/** A token may be one of two colours: what is drawn on a canvas needs the one of now. */
function colourOf(element: HTMLElement, token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
