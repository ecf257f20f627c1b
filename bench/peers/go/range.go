// SPDX-License-Identifier: MIT

// The rows about loops: Go has no parallel algorithms, so a goroutine for each
// processor gets a part of the range.  The sizes are those of
// bench/problems/array.h.
package main

import (
	"runtime"
	"sync"
	"time"
)

const (
	arrayNr, arrayQuick = 10000000, 10000
	arrayTurns          = 10
	tinyNr, tinyTurns   = 1000, 20000
	saxpyFactor         = 2
)

// parts calls fn for one part of the range per processor, and waits.
func parts(nr int, fn func(part, begin, end int)) {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	group.Add(workers - 1)
	for w := 1; w < workers; w++ {
		go func(w int) {
			fn(w, nr*w/workers, nr*(w+1)/workers)
			group.Done()
		}(w)
	}
	fn(0, 0, nr/workers)
	group.Wait()
}

// A slot per processor, on a line of its own.
type slot struct {
	sum     int64
	float   float64
	padding [14]int64
}

func forTiny() {
	turns, sum := size(tinyTurns), 0
	done := make([]slot, runtime.GOMAXPROCS(0))
	start := time.Now()
	for i := 0; i < turns; i++ {
		parts(tinyNr, func(part, begin, end int) {
			done[part].sum += int64(end - begin)
		})
	}
	reportEach("ns", start, turns)
	for i := range done {
		sum += int(done[i].sum)
	}
	check(sum == turns*tinyNr, "elements")
}

func forSaxpy() {
	nr := choose(arrayNr, arrayQuick)
	x, y := make([]float32, nr), make([]float32, nr)
	for i := range x {
		x[i], y[i] = float32(i%16), 1
	}
	start := time.Now()
	for i := 0; i < arrayTurns; i++ {
		parts(nr, func(_, begin, end int) {
			mine := y[begin:end]
			for i, v := range x[begin:end] {
				mine[i] += saxpyFactor * v
			}
		})
	}
	reportEach("ns", start, arrayTurns*nr)
	for i := range y {
		check(y[i] == 1+arrayTurns*saxpyFactor*x[i], "elements")
	}
}

func reduce() {
	nr, right := choose(arrayNr, arrayQuick), 0.0
	x := make([]float64, nr)
	for i := range x {
		x[i] = float64(i % 16)
		right += x[i]
	}
	start := time.Now()
	for i := 0; i < arrayTurns; i++ {
		sums, sum := make([]slot, runtime.GOMAXPROCS(0)), 0.0
		parts(nr, func(part, begin, end int) {
			mine := 0.0
			for _, v := range x[begin:end] {
				mine += v
			}
			sums[part].float = mine
		})
		for i := range sums {
			sum += sums[i].float
		}
		check(sum == right, "sum")
	}
	reportEach("ns", start, arrayTurns*nr)
}

func scanOnce(out, x []int64) {
	sums := make([]slot, runtime.GOMAXPROCS(0)+1)
	parts(len(x), func(part, begin, end int) {
		var mine int64
		for _, v := range x[begin:end] {
			mine += v
		}
		sums[part+1].sum = mine
	})
	for i := 1; i < len(sums); i++ {
		sums[i].sum += sums[i-1].sum
	}
	parts(len(x), func(part, begin, end int) {
		before := sums[part].sum
		mine := out[begin:end]
		for i, v := range x[begin:end] {
			before += v
			mine[i] = before
		}
	})
}

func scan() {
	nr, sum := choose(arrayNr, arrayQuick), int64(0)
	x, out := make([]int64, nr), make([]int64, nr)
	for i := range x {
		x[i], out[i] = int64(i%16), -1
	}
	start := time.Now()
	for i := 0; i < arrayTurns; i++ {
		scanOnce(out, x)
	}
	reportEach("ns", start, arrayTurns*nr)
	for i := range x {
		sum += x[i]
		check(out[i] == sum, "elements")
	}
}
