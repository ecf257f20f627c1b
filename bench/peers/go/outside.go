// SPDX-License-Identifier: MIT

// Row `outside`: bench/problems/outside.h.  Go has no threads but its own, so that
// the submitter is a goroutine, too.
package main

import (
	"fmt"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const (
	outsideSamples      = 10000
	outsideBurst        = 1000
	outsidePause        = time.Millisecond
	outsideBurstPause   = 20 * time.Millisecond
	outsideTask         = 5 * time.Microsecond
	outsideLeaf         = 15625 * time.Nanosecond
	outsideDepth        = 6
	outsideQuick        = 20
	outsideQuickBurst   = 10
	outsideWarmingUp    = 20 * time.Millisecond
	outsideChainsPerCPU = 2
)

var outsideOver atomic.Bool

func outsideWork(length time.Duration) {
	start := time.Now()
	for time.Since(start) < length {
	}
}

func outsideShort() {
	outsideWork(outsideTask)
	if !outsideOver.Load() {
		go outsideShort()
	}
}

func outsideFork(depth int) {
	if depth == 0 {
		outsideWork(outsideLeaf)
		return
	}
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		outsideFork(depth - 1)
		group.Done()
	}()
	outsideFork(depth - 1)
	group.Wait()
}

func outsideRoot() {
	outsideFork(outsideDepth)
	if !outsideOver.Load() {
		go outsideRoot()
	}
}

func outsideMeasure(name string, nr, burst int, pause time.Duration) {
	var group sync.WaitGroup
	waited := make([]int64, nr)
	start := time.Now()
	group.Add(nr)
	for i := range waited {
		if i%burst == 0 {
			time.Sleep(time.Duration(1+i/burst)*pause -
				time.Since(start))
		}
		sample, submitted := &waited[i], time.Now()
		go func() {
			*sample = time.Since(submitted).Nanoseconds()
			group.Done()
		}()
	}
	group.Wait()
	sort.Slice(waited, func(i, j int) bool { return waited[i] < waited[j] })
	fmt.Printf("%s_p50_ns %d\n", name, waited[nr/2])
	fmt.Printf("%s_p99_ns %d\n", name, waited[nr*99/100])
	fmt.Printf("%s_p999_ns %d\n", name, waited[nr*999/1000])
}

func outsideBeside(name string, local func()) {
	nr := choose(outsideSamples, outsideQuick)
	outsideOver.Store(false)
	for i := 0; i < outsideChainsPerCPU*runtime.GOMAXPROCS(0); i++ {
		go local()
	}
	time.Sleep(outsideWarmingUp)
	outsideMeasure(name+"_single", nr, 1, outsidePause)
	outsideMeasure(name+"_burst", nr, choose(outsideBurst,
		outsideQuickBurst), outsideBurstPause)
	outsideOver.Store(true)
	time.Sleep(outsideWarmingUp)
}

func outside() {
	outsideBeside("task", outsideShort)
	outsideBeside("root", outsideRoot)
}

func init() {
	rows["outside"] = outside
}
