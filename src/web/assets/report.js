// Draws the charts of a report from the JSON in the page. No network, no state but the theme. A name has one colour on the whole page.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const names = [];
  for (const chart of charts) for (const line of chart.series) if (!names.includes(line.name)) names.push(line.name);
  const colourCount = 10;
  const plotHeight = 340;
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colourName = (name) => "--s" + (names.indexOf(name) % colourCount);
  // Each line has a colour and a dash of its own, so that colour alone tells nothing. The numbers of both have no common divisor: 70 lines differ.
  const dashes = [[], [9, 4], [2, 4], [14, 4, 2, 4], [5, 2], [14, 7], [9, 3, 2, 3, 2, 3]];
  const dash = (line) => (line.dashed ? [6, 5] : dashes[names.indexOf(line.name) % dashes.length]);

  const steps = [[1e-3, "1 ms"], [1e-2, "10 ms"], [0.1, "0.1 s"], [1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [21600, "6 h"], [86400, "1 d"],
                 [604800, "1 w"], [2592000, "30 d"], [31536000, "1 y"]];
  const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const grouped = (value) => {
    const magnitude = Math.abs(value);
    const digits = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 1 ? 2 : magnitude === 0 ? 0 : Math.min(6, 2 - Math.floor(Math.log10(magnitude)));
    const [whole, rest] = trim(value.toFixed(digits)).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
  };
  const duration = (seconds) => {
    for (const [size, unit] of [[86400, " d"], [3600, " h"], [60, " min"], [1, " s"]]) if (seconds >= 2 * size || seconds === size) return trim((seconds / size).toFixed(1)) + unit;
    return trim(seconds.toFixed(2)) + " s";
  };
  const shown = (value, unit) => {
    if (value == null) return "";
    if (unit === "duration") return duration(value);
    return grouped(value) + (unit ? (unit === "%" ? " %" : " " + unit) : "");
  };

  // A tick for every power of ten and, where there is room, for 2 and 5 of it: uPlot's own logarithmic ticks crowd.
  const logSplits = (min, max) => {
    const splits = [];
    const isWide = Math.log10(max / min) > 4;
    for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); ++power) {
      for (const digit of isWide ? [1] : [1, 2, 5]) {
        const value = digit * 10 ** power;
        if (value >= min * 0.999 && value <= max * 1.001) splits.push(value);
      }
    }
    return splits;
  };
  const axis = (label, unit, isLog, side) => {
    const result = {
      label, labelSize: side === 2 ? 20 : 24, labelGap: 0, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif", side,
      stroke: () => variable("--quiet"), grid: { stroke: () => variable("--grid"), width: 1 }, ticks: { stroke: () => variable("--grid"), width: 1, size: 5 },
      values: (plot, splits) => splits.map((value) => (value == null ? "" : unit === "duration" ? duration(value) : grouped(value) + (unit === "%" ? " %" : ""))),
    };
    if (side === 3) result.size = (plot, values) => Math.max(44, 16 + 7.2 * Math.max(0, ...(values ?? []).map((text) => text.length)));
    if (side === 2) Object.assign(result, { space: 70, size: 34 });
    if (unit === "duration" && !isLog) result.incrs = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000, 31536000];
    if (isLog) {
      result.filter = (plot, splits) => splits;
      result.splits = (plot, index, min, max) => (unit === "duration" ? steps.map((step) => step[0]).filter((value) => value >= min * 0.999 && value <= max * 1.001) : logSplits(min, max));
      if (unit === "duration") result.values = (plot, splits) => splits.map((value) => steps.find((step) => step[0] === value)?.[1] ?? "");
    }
    return result;
  };

  const options = (chart, width) => ({
    width, height: plotHeight, padding: [12, 26, 0, 0],
    legend: { markers: { width: 0, fill: (plot, i) => (i === 0 ? "transparent" : "var(" + colourName(plot.series[i].label) + ")") } },
    cursor: { focus: { prox: 24 }, points: { size: 7 }, drag: { x: true, y: false } },
    focus: { alpha: 0.35 },
    scales: {
      x: { time: false, distr: chart.x_log ? 3 : 1 },
      y: { distr: chart.y_log ? 3 : 1, range: chart.y_log ? undefined : (plot, min, max) => (min == null ? [0, 1] : uPlot.rangeNum(min, max === min ? min + 1 : max, { min: { pad: 0.05, soft: 0, mode: 3 }, max: { pad: 0.06, soft: 0, mode: 3 } })) },
    },
    axes: [axis(chart.x_label, chart.x_unit, chart.x_log, 2), axis(chart.y_label, chart.y_unit, chart.y_log, 3)],
    series: [{ label: chart.x_label, value: (plot, value) => shown(value, chart.x_unit) }].concat(chart.series.map((line) => ({
      label: line.name, width: 2, dash: dash(line), points: { show: line.x.length < 3 },
      stroke: () => variable(colourName(line.name)),
      value: (plot, value) => shown(value, chart.y_unit),
      paths: chart.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    }))),
  });

  const plots = [];
  charts.forEach((chart, index) => {
    const place = document.getElementById("plot-" + index);
    const data = uPlot.join(chart.series.map((line) => [line.x, line.y]));
    const plot = new uPlot(options(chart, place.clientWidth), data, place);
    plots.push(plot);
    const fit = () => {
      if (place.clientWidth > 0 && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: plotHeight });
    };
    new ResizeObserver(fit).observe(place);
  });

  for (const chip of document.querySelectorAll("table.summary i")) {
    if (names.includes(chip.dataset.name)) chip.style.background = "var(" + colourName(chip.dataset.name) + ")"; else chip.remove();
  }
  const redraw = () => plots.forEach((plot) => plot.redraw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = getComputedStyle(root).colorScheme.includes("dark");
    root.dataset.theme = isDark ? "light" : "dark";
    redraw();
  });
})();
