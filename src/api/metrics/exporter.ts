/** Sums samples up and writes them in Prometheus' text format. Loads prom-client. */
import client from 'prom-client';
import {
  COUNTERS,
  type CounterName,
  GAUGES,
  type GaugeName,
  HISTOGRAMS,
  type HistogramName,
} from './definitions.js';
import { KindLabels } from './kind-labels.js';
import type { Sample } from './samples.js';

/** The value of a gauge. */
export interface Reading {
  name: GaugeName;
  labels?: Record<string, string>;
  value: number;
}

export class Exporter {
  /** Of this emulator alone, not prom-client's global one. */
  readonly #registry = new client.Registry();
  readonly #kinds = new KindLabels();
  readonly #counters = each(COUNTERS, (name, { help, ...more }) => {
    return new client.Counter({ name, help, ...labelsOf(more), registers: [this.#registry] });
  });
  readonly #histograms = each(HISTOGRAMS, (name, { help, buckets, ...more }) => {
    const registers = [this.#registry];
    return new client.Histogram({
      name,
      help,
      buckets: [...buckets],
      ...labelsOf(more),
      registers,
    });
  });
  readonly #gauges = each(GAUGES, (name, { help, ...more }) => {
    return new client.Gauge({ name, help, ...labelsOf(more), registers: [this.#registry] });
  });

  get contentType(): string {
    return this.#registry.contentType;
  }

  add({ name, labels, value }: Sample): void {
    const known = this.#labels(labels);
    if (name in this.#counters) this.#counters[name as CounterName].inc(known, value);
    else this.#histograms[name as HistogramName].observe(known, value);
  }

  /** The metrics as text, with what the gauges show at this moment. */
  write(readings: readonly Reading[]): Promise<string> {
    for (const gauge of Object.values(this.#gauges)) {
      gauge.reset();
      // One without labels stands at 0 then, and 0 would be a lie where nothing was read.
      gauge.remove({});
    }
    // Summed: several kinds may have become one label.
    for (const { name, labels = {}, value } of readings) {
      this.#gauges[name].inc(this.#labels(labels), value);
    }
    return this.#registry.metrics();
  }

  #labels(labels: Record<string, string>): Record<string, string> {
    return labels.kind === undefined ? labels : { ...labels, kind: this.#kinds.of(labels.kind) };
  }
}

function labelsOf({ labels }: { labels?: readonly string[] }): { labelNames: string[] } {
  return { labelNames: [...(labels ?? [])] };
}

/** Makes something of each definition. */
function each<Definitions extends object, Made>(
  definitions: Definitions,
  make: (name: string, definition: Definitions[keyof Definitions]) => Made,
): Record<keyof Definitions, Made> {
  const made = Object.entries(definitions).map(([name, one]) => [name, make(name, one)]);
  return Object.fromEntries(made) as Record<keyof Definitions, Made>;
}
