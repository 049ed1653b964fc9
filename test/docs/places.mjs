import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { copyTree } from '../../scripts/copied-tree.mjs';
import { installInto, packInto, shareTensorflow } from '../../scripts/installed-package.mjs';
import { root } from '../../scripts/run-tool.mjs';
import { Terminal } from './terminal.mjs';

/** The folders in which pages run: one for each page in a project with the packages, and one copy of the repository. */
export class Places {
  /** @param {string} home @param {{ variables: Record<string, string>, programs: string }} services */
  constructor(home, services) {
    this.project = join(home, 'project');
    this.checkout = join(home, 'checkout');
    this.packages = join(home, 'packages');
    this.logs = join(home, 'logs');
    mkdirSync(this.logs, { recursive: true });
    const cache = join(home, 'cache');
    if (!existsSync(cache)) shareTensorflow(cache);
    // A request that is refused is a fault.
    writeFileSync(join(home, '.curlrc'), 'fail-with-body\n');
    this.variables = { ...services.variables, XDG_CACHE_HOME: cache, CURL_HOME: home, REPOSITORY: root };
    this.programs = services.programs;
    if (!existsSync(this.packages)) packInto(this.packages);
    this.hasProject = existsSync(this.project);
  }

  /**
   * Makes a page's folder in the project, without anything of an earlier page.
   *
   * @param {string} name
   */
  folderOf(name) {
    if (!this.hasProject) {
      this.fillWithPackages(this.project);
      installInto(
        this.project,
        readdirSync(this.packages).map((file) => `./${file}`),
      );
      this.hasProject = true;
    }
    return emptied(join(this.project, name));
  }

  /** Makes a folder with only the packages, which are not installed. @param {string} name */
  folderWithPackages(name) {
    const folder = emptied(join(this.project, '..', name));
    this.fillWithPackages(folder);
    return folder;
  }

  /** @param {string} folder */
  fillWithPackages(folder) {
    mkdirSync(folder, { recursive: true });
    for (const file of readdirSync(this.packages))
      copyFileSync(join(this.packages, file), join(folder, file));
  }

  /** The copy of the repository, without data of an earlier page. */
  checkoutFolder() {
    if (!existsSync(this.checkout)) copyTree(this.checkout);
    rmSync(join(this.checkout, '.retrace'), { recursive: true, force: true });
    return this.checkout;
  }

  /**
   * Opens a terminal.
   *
   * @param {string} folder
   * @param {Record<string, string>} variables
   */
  openTerminal(folder, variables) {
    const installed = folder === this.checkout ? folder : this.project;
    const bins = [join(installed, 'node_modules', '.bin'), this.programs, process.env.PATH];
    return new Terminal(
      folder,
      { ...process.env, ...this.variables, PATH: bins.join(delimiter), ...variables },
      this.logs,
    );
  }
}

/** @param {string} folder */
function emptied(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
