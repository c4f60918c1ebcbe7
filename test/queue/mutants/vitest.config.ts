import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../../vitest.config.js';

const config = mergeConfig(base, defineConfig({}));
config.test = { ...base.test, include: ['test/queue/mutants/*.mutants.ts'] };
export default config;
