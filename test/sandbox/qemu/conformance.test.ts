import { sandboxConformance } from '../conformance.js';
import { describeMachines, qemuProvider, withWhy } from './machines.js';

describeMachines(withWhy('microVMs'), () => {
  sandboxConformance('qemu', (scratch) => qemuProvider(scratch));
});
