dist_man_MANS = %D%/nvmtop.1 %D%/nvmtop.3 %D%/nvmtop-board.5 %D%/nvmtop-trace.5 %D%/nvmtop-nsys.1 %D%/nvmtop-setup.8 \
	%D%/nvmtop-record.8
