package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// demo is one run of it.
type demo struct {
	options options
	// self is this program, dir the folder of the run, and logs and tmp folders
	// in that.
	self, dir, logs, tmp string
	// errs is where the progress goes.
	errs   io.Writer
	node   *node
	spaces []*space
}

// spaceNames are the namespaces, among which the files are dealt out.
func spaceNames() []string { return []string{"alpha", "beta"} }

// run does all that the demo does and prints the result. Nothing that it started
// runs any more when it returns.
func run(ctx context.Context, o options, out, errs io.Writer) (err error) {
	d := &demo{options: o, errs: errs}
	files, err := d.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { err = d.cleanUp(ctx, err) }()
	began := time.Now()
	if err := d.build(ctx, files); err != nil {
		return err
	}
	if err := d.watch(ctx); err != nil {
		return err
	}
	if err := d.dismiss(); err != nil {
		return err
	}
	reports, err := d.audit(ctx)
	if err != nil {
		return err
	}
	if err := d.node.stop(); err != nil {
		return err
	}
	return printReports(out, reports, time.Since(began))
}

// prepare finds the programs and the input and makes the folder of the run.
func (d *demo) prepare(ctx context.Context) (files []*source, err error) {
	if d.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if d.options.skerry, err = filepath.Abs(d.options.skerry); err != nil {
		return nil, fmt.Errorf("find skerry: %w", err)
	}
	methods, err := installedMethods(exec.LookPath)
	if err != nil {
		return nil, err
	}
	files, notes, err := inputFiles(ctx, d.options.input)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		f.methods = choose(methods, i/len(spaceNames()))
	}
	if d.dir, err = os.MkdirTemp("", "skerry-demo-"); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	d.logs, d.tmp = filepath.Join(d.dir, "logs"), filepath.Join(d.dir, "tmp")
	for _, dir := range []string{d.logs, d.tmp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make folder: %w", err)
		}
	}
	d.announce(files, methods, notes)
	return files, nil
}

func (d *demo) announce(files []*source, methods []method, notes []string) {
	var size int64
	for _, f := range files {
		size += f.size
	}
	var names []string
	for _, m := range methods {
		names = append(names, m.String())
	}
	fmt.Fprintf(d.errs, "%d files, %s bytes, by %s\n", len(files), grouped(size), strings.Join(names, ", "))
	for _, note := range notes {
		fmt.Fprintln(d.errs, "note:", note)
	}
}

// build starts the node, fills the namespaces and sets the workers to work.
func (d *demo) build(ctx context.Context, files []*source) (err error) {
	if d.node, err = startNode(ctx, d.options.skerry, d.dir, d.logs); err != nil {
		return err
	}
	fmt.Fprintf(d.errs, "node at %s, data in %s\n", d.node.base, d.dir)
	for i, name := range spaceNames() {
		s, err := newSpace(ctx, d.node, name, deal(files, i, len(spaceNames())))
		if err != nil {
			return err
		}
		d.spaces = append(d.spaces, s)
		if err := s.hire(ctx, d.node, d.options.skerry, d.self, d.logs, d.tmp); err != nil {
			return err
		}
	}
	d.spaces[0].victim = d.spaces[0].crew[0]
	bar := newProgress(d.errs, "inputs", len(files))
	for _, s := range d.spaces {
		if err := s.store(ctx, func() { bar.add(1) }); err != nil {
			return err
		}
	}
	if d.spaces[0].small() {
		if err := d.spaces[0].freeze(ctx); err != nil {
			return err
		}
	}
	for _, s := range d.spaces {
		if err := s.plan(ctx); err != nil {
			return err
		}
	}
	return nil
}

// deal gives the i-th of n hands its files.
func deal(files []*source, i, n int) []*source {
	var hand []*source
	for ; i < len(files); i += n {
		hand = append(hand, files[i])
	}
	return hand
}

// dismiss stops the workers of all namespaces.
func (d *demo) dismiss() error {
	var err error
	for _, s := range d.spaces {
		err = errors.Join(err, s.dismiss())
	}
	return err
}

// audit checks every namespace.
func (d *demo) audit(ctx context.Context) ([]*report, error) {
	total := 0
	for _, s := range d.spaces {
		total += len(s.files)
	}
	bar := newProgress(d.errs, "checked", total)
	var reports []*report
	for _, s := range d.spaces {
		r, err := s.audit(ctx, func() { bar.add(1) })
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", s.name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// cleanUp ends what still runs and removes the folder, which stays after a failure
// that was not an interrupt, and where the user wants it.
func (d *demo) cleanUp(ctx context.Context, err error) error {
	err = errors.Join(err, d.dismiss())
	for _, s := range d.spaces {
		s.close()
	}
	if d.node != nil && !d.node.ended() {
		err = errors.Join(err, d.node.stop())
	}
	interrupted := ctx.Err() != nil
	if interrupted {
		err = fmt.Errorf("stopped early: %w", context.Cause(ctx))
	}
	if d.options.keep || err != nil && !interrupted {
		fmt.Fprintf(d.errs, "data in %s, logs in %s\n", d.dir, d.logs)
		return err
	}
	return errors.Join(err, os.RemoveAll(d.dir))
}
